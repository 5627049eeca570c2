/** Finds the members of a declaration by name: fields, cases, endpoints, enum values. */
import type { Position, Schema, Tags } from "../model/index.js";

export interface DeclarationMember {
  readonly at: Position;
  readonly tags: Tags;
}

/** @returns undefined if there is no such declaration or it has no members */
export function declarationMembers(schema: Schema, owner: string): ReadonlyMap<string, DeclarationMember> | undefined {
  const byName = (members: readonly (DeclarationMember & { readonly name: string })[]) =>
    new Map(members.map((member) => [member.name, member]));
  for (const { types, actors } of schema.modules) {
    const actor = actors.find((candidate) => candidate.name === owner);
    if (actor !== undefined) return byName(actor.endpoints);
    const shape = types.find((candidate) => candidate.name === owner)?.shape;
    if (shape?.kind === "message") return byName(shape.fields);
    if (shape?.kind === "oneof") return byName(shape.cases);
    if (shape?.kind === "enum" && shape.origin === "enum")
      return byName(
        shape.values
          .flatMap((value) => [value, ...(value.aliases ?? [])])
          .map((value) => ({ ...value, tags: value.tags ?? {} })),
      );
  }
  return undefined;
}
