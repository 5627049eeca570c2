/** One view of fields, cases, variants and enum values: the members of a shape, each with a name and an id. */
import type { Position, Shape, Tags, Type } from "../model/index.js";

export interface ShapeMember {
  readonly name: string;
  readonly id: number;
  readonly at: Position;
  /** The type; absent for the value of an enum. */
  readonly type?: Type;
  readonly optional: boolean;
  /** The name from the tag `@name`. */
  readonly wireName?: string;
  /** The tags, `@json` among them. */
  readonly tags?: Tags;
}

export function membersOf(shape: Shape): readonly ShapeMember[] {
  switch (shape.kind) {
    case "message":
      return shape.fields;
    case "oneof":
      return shape.cases;
    case "union":
      return shape.variants.map(({ tag, id, type, at }) => ({ name: tag, id, type, at, optional: false }));
    case "enum":
      return shape.values.map(({ name, id, at }) => ({ name, id, at, optional: false }));
    case "alias":
      return [];
  }
}

/** Returns the word for a member of a shape in texts. */
export function memberKind(shape: Shape): string {
  return { message: "field", oneof: "case", union: "variant", enum: "value", alias: "type" }[shape.kind];
}
