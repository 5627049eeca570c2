import type { Actor, Int32, ObjectRef, Port, Stream } from "viceroy/schema";

/** A type that is only in values of references. */
interface Layer {
  name: string;
  weights: Float32Array;
}

/** A generic message. */
export interface Box<T> {
  value: ObjectRef<T>;
}

/** References in every place. */
export interface References {
  single: ObjectRef<Layer>;
  many: readonly ObjectRef<Int32>[];
  named: Map<string, ObjectRef<"a" | "b">>;
  absent?: ObjectRef<string | null> | null;
  nested: ObjectRef<{ inner: ObjectRef<Layer[]> }>;
  box: Box<Layer>;
}

export interface Keeper extends Actor<[first?: ObjectRef<Layer>]> {
  keep(references: References, other: ObjectRef<Layer>): Box<Layer>;
  all(to: Port<Box<Int32>>): Stream<{ layer: ObjectRef<Layer> }>;
}
