/** How schemas may change: the rules that `viceroy break` asks about two states of a project. */
export type { Pair, SchemaState } from "./comparison.js";
export { findBreaks } from "./find.js";
export { applyIgnores } from "./ignored.js";
export { rememberedSchema } from "./remembered.js";
export { type Break, type BreakClass, breakClasses } from "./rule.js";
export { breakTable, type RuleEntry, unusedIgnore } from "./table.js";
