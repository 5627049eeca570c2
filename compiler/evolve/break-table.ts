/** All rules of `viceroy break` by their codes. `docs/reference/breaking-changes.md` documents them. */
import { wireRules } from "../../shared/evolution/index.js";
import type { BreakClass } from "./break-rule.js";
import { schemaRules } from "./rules/index.js";

export interface RuleEntry {
  readonly code: string;
  readonly name: string;
  readonly class: BreakClass;
}

export const breakTable: ReadonlyMap<string, RuleEntry> = new Map(
  [...wireRules.map(({ code, name }) => ({ code, name, class: "WIRE" as const })), ...schemaRules]
    .map(({ code, name, class: breakClass }) => ({ code, name, class: breakClass }))
    .sort((a, b) => (a.code < b.code ? -1 : 1))
    .map((entry) => [entry.code, entry]),
);

/** The code for an entry of `break.ignore` that ignores nothing. The command reports it, not a rule. */
export const unusedIgnore = { code: "VC5090", name: "ignored-for-nothing" } as const;
