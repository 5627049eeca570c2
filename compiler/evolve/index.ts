/** How schemas may change: the rules that `viceroy break` asks about two states of a project. */
export type { Pair, Side } from "./comparison.js";
export { findBreaks } from "./find.js";
export { sift } from "./ignored.js";
export { rememberedSchema } from "./remembered.js";
export { type Break, type BreakClass, breakClasses } from "./rule.js";
export { breakTable, ignoredForNothing, type RuleEntry } from "./table.js";
