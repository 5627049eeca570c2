/** The rules for changing schemas, as `viceroy break` applies them to two states of a project. */

export type { Pair } from "../../shared/evolution/pair.js";
export { applyIgnores } from "./apply-ignores.js";
export { type Break, type BreakClass, breakClasses } from "./break-rule.js";
export { breakTable, type RuleEntry, unusedIgnore } from "./break-table.js";
export type { SchemaState } from "./comparison.js";
export { findBreaks } from "./find-breaks.js";
export { rememberedSchema } from "./remembered-schema.js";
