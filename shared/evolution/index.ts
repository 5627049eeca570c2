/** How schemas may change: the rules of the wire, which the compiler and the runtime share. */

export { findWireDifferences } from "./find-wire-differences.js";
export { oneWayRules } from "./one-way-rules.js";
export { wireRules } from "./rules/index.js";
export { allRoots, type WireRoots } from "./wire-roots.js";
export type { MemberNames, Pair, WireRule } from "./wire-rule.js";
