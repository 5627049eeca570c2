/** What members are called outside of TypeScript: in `.proto` files, and in JSON, which makes its names of those. */
import { jsonName, memberNames, protoName } from "../../shared/protobuf/names.js";
import type { Parameter, Shape, Type } from "../model/index.js";
import { hasNumbers, unlabelledName } from "../protobuf/form/form.js";
import type { LoweredSchema } from "../protobuf/lower/lowered-schema.js";
import type { Pair, StateComparison } from "./comparison.js";
import type { ShapeMember } from "./shape-members.js";

export interface ExternalName {
  readonly proto: string;
  readonly json: string;
}

/** @returns undefined where protobuf has no name of its own for the member: of a variant its tag is, of a generic nothing */
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
  // Of several names for a number the first is the one that is written.
  const number = value && (hasNumbers(shape) ? Number(value.value) : value.id);
  const proto = values?.find((candidate) => candidate.number === number)?.name;
  return proto === undefined ? undefined : { proto, json: proto };
}

/** The names of a tuple's elements in JSON, by their places. */
export function elementNames({ elements }: Extract<Type, { kind: "tuple" }>): readonly string[] {
  const members = elements.map(({ name }, i) => {
    return { member: name ?? unlabelledName(i), number: i + 1, isMap: false };
  });
  return memberNames(members).map((named) => named.jsonName);
}

/** The names of parameters in JSON, by their ids. */
export function parameterNames(params: readonly Parameter[]): ReadonlyMap<number, string> {
  const members = params.map(({ name, id }) => ({ member: name, number: id, isMap: false }));
  const inOrder = members.sort((a, b) => a.number - b.number);
  return new Map(memberNames(inOrder).map(({ jsonName: name }, i) => [inOrder[i]?.number ?? 0, name]));
}

/** The public names of endpoints, by their ids, by the ids of their actors. */
export function methodNames({ schema }: LoweredSchema): ReadonlyMap<number, ReadonlyMap<number, string>> {
  return new Map(
    [...schema.services.values()].map((service) => [
      service.id,
      new Map(service.methods.map(({ id, name }) => [id, name])),
    ]),
  );
}

/** The public names of actors, by their ids. */
export function serviceNames({ schema }: LoweredSchema): ReadonlyMap<number, string> {
  return new Map([...schema.services.values()].map(({ id, name }) => [id, name]));
}
