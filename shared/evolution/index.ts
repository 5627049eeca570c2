/** The rules for changing a schema without breaking the wire format. The compiler and the runtime share them. */

export { findWireDifferences } from "./find-wire-differences.js";
export { oneWayRules } from "./one-way-rules.js";
export type { Pair } from "./pair.js";
export { wireRules } from "./rules/index.js";
export { allRoots, type WireRoots } from "./wire-roots.js";
export type { MemberNames, WireRule } from "./wire-rule.js";
