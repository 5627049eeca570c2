/** Computes the names of members outside TypeScript: in `.proto` files, and in JSON, whose names derive from those. */

import type { Pair } from "../../shared/evolution/pair.js";
import { jsonName, memberNames, protoName } from "../../shared/protobuf/names.js";
import type { Parameter, Shape, Type } from "../model/index.js";
import { hasNumbers, unlabelledName } from "../protobuf/form/form.js";
import type { LoweredSchema } from "../protobuf/lower/lowered-schema.js";
import type { StateComparison } from "./comparison.js";
import type { ShapeMember } from "./shape-members.js";

export interface ExternalName {
  readonly proto: string;
  readonly json: string;
}

/**
 * Returns the names of a member on both sides.
 * @returns undefined if protobuf has no separate name for the member: a variant uses its tag, and a member of a generic
 * type has no name
 */
export function externalNames(
  { states: sides }: StateComparison,
  shape: Pair<Shape>,
  member: Pair<ShapeMember>,
): Pair<ExternalName> | undefined {
  const older = externalName(shape.older, member.older, sides.older.lowered);
  const newer = externalName(shape.newer, member.newer, sides.newer.lowered);
  return older && newer && { older, newer };
}

function externalName(
  shape: Shape,
  { name, wireName, tags }: ShapeMember,
  lowered: LoweredSchema,
): ExternalName | undefined {
  if (shape.kind === "message" || shape.kind === "oneof") {
    const proto = wireName ?? protoName(name);
    return { proto, json: tags?.json ?? jsonName(proto) };
  }
  if (shape.kind !== "enum") return undefined;
  const value = shape.values.find((candidate) => candidate.name === name);
  const values = lowered.schema.enums.get(lowered.enumNames.get(shape) ?? "")?.values;
  // If several names share a number, the first one is written.
  const number = value && (hasNumbers(shape) ? Number(value.value) : value.id);
  const proto = values?.find((candidate) => candidate.number === number)?.name;
  return proto === undefined ? undefined : { proto, json: proto };
}

/** Returns the JSON names of a tuple's elements, by position. */
export function elementNames({ elements }: Extract<Type, { kind: "tuple" }>): readonly string[] {
  const members = elements.map(({ name }, i) => {
    return { member: name ?? unlabelledName(i), number: i + 1, isMap: false };
  });
  return memberNames(members).map((named) => named.jsonName);
}

/** Returns the JSON names of parameters by their ids. */
export function parameterNames(params: readonly Parameter[]): ReadonlyMap<number, string> {
  const members = params.map(({ name, id }) => ({ member: name, number: id, isMap: false }));
  const inOrder = members.sort((a, b) => a.number - b.number);
  return new Map(memberNames(inOrder).map(({ jsonName: name }, i) => [inOrder[i]?.number ?? 0, name]));
}

/** Returns the public names of endpoints: by the id of their actor, then by their own id. */
export function methodNames({ schema }: LoweredSchema): ReadonlyMap<number, ReadonlyMap<number, string>> {
  return new Map(
    [...schema.services.values()].map((service) => [
      service.id,
      new Map(service.methods.map(({ id, name }) => [id, name])),
    ]),
  );
}

/** Returns the public names of actors by their ids. */
export function serviceNames({ schema }: LoweredSchema): ReadonlyMap<number, string> {
  return new Map([...schema.services.values()].map(({ id, name }) => [id, name]));
}
