/** How schemas may change: the rules of the wire, which the compiler and the runtime share. */
export { oneWayRules } from "./one-way.js";
export { allRoots, type WireRoots } from "./roots.js";
export type { MemberNames, Pair, WireRule } from "./rule.js";
export { wireRules } from "./rules/index.js";
export { findWireDifferences } from "./wire-differences.js";
