// The types of schemas/a.ts, without codecs.
import type { UnknownVariant } from "viceroy/codegen/v1";
import type { B } from "./b.js";

/** A tree. */
export interface Tree {
  value: number;
  left?: Tree;
  right?: Tree;
}

export interface List<T> {
  head: T;
  tail?: List<T>;
}

/** Two files that need each other. */
export interface A {
  name: string;
  b?: B;
}

export type Expression =
  | { op: "number"; value: number }
  | { op: "sum"; terms: Expression[] }
  | { op: "negate"; of: Expression }
  | UnknownVariant<"op">;

export interface Uses {
  numbers: List<number>;
  forest: Tree[];
}
