/** Fields, cases, variants and values as one thing: what has a name and an id in a shape. */
import type { Position, Shape, Tags, Type } from "../model/index.js";

export interface ShapeMember {
  readonly name: string;
  readonly id: number;
  readonly at: Position;
  /** Of a value of an enum: none. */
  readonly type?: Type;
  readonly optional: boolean;
  /** What `@name` says. */
  readonly wireName?: string;
  /** What `@json` says, and more. */
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

/** What a member of a shape is called in texts. */
export function memberKind(shape: Shape): string {
  return { message: "field", oneof: "case", union: "variant", enum: "value", alias: "type" }[shape.kind];
}
