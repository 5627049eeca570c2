/** Finds all breaking changes between two states of a project. */
import type { Position } from "../model/index.js";
import type { Break } from "./break-rule.js";
import { compareStates, type SchemaState } from "./comparison.js";
import { schemaRules } from "./rules/index.js";
import { capnpChanged } from "./rules/wire/capnp-changed.js";
import { oneofMoved } from "./rules/wire/oneof-moved.js";
import { wireBreaks } from "./wire-breaks.js";

/**
 * Returns the breaking changes sorted by position. Findings that a worse one at the same place implies are omitted, see
 * `isImplied`.
 */
export function findBreaks(older: SchemaState, newer: SchemaState): readonly Break[] {
  const comparison = compareStates(older, newer);
  const wire = wireBreaks(comparison);
  const others = schemaRules.flatMap((rule) =>
    rule.find(comparison).map((finding) => ({ ...finding, code: rule.code, class: rule.class })),
  );
  const places = new Set(wire.map(({ at, side }) => placeOf(at, side)));
  return [...wire, ...others.filter((found) => !isImplied(found, places))].sort(byPosition);
}

/**
 * Returns whether a finding follows from one of the wire rules of the protobuf layout at the same place. A change that
 * alters the wire format also tends to break compilation and the layout in Cap'n Proto, so the wire rule's finding is
 * enough.
 */
function isImplied({ code, class: of, at, side }: Break, places: ReadonlySet<string>): boolean {
  const isWeaker = of === "SOURCE" || of === "DANGEROUS" || code === capnpChanged.code || code === oneofMoved.code;
  return isWeaker && places.has(placeOf(at, side));
}

function placeOf({ file, line, column }: Position, side: string): string {
  return `${side} ${file}:${line}:${column}`;
}

function byPosition(a: Break, b: Break): number {
  const text = (x: string, y: string) => (x < y ? -1 : x > y ? 1 : 0);
  return (
    text(a.at.file, b.at.file) ||
    a.at.line - b.at.line ||
    a.at.column - b.at.column ||
    text(a.code, b.code) ||
    text(a.text, b.text)
  );
}
