import type { Actor, Float32, ObjectRef, Stream, Uint32 } from "viceroy/schema";

/** The facts about a value that a trainer has read. */
export interface Reading {
  pid: Uint32;
  length: Uint32;
  first: Float32;
  last: Float32;
}

/** Weights, in a plain value. */
interface Layers {
  name: string;
  layers: Map<string, Float32Array>;
}

/** A message with references. */
export interface Batch {
  single: ObjectRef<Float32Array>;
  many: ObjectRef<number>[];
  named: Map<string, ObjectRef<string>>;
  maybe?: ObjectRef<number>;
  layers: ObjectRef<Layers>;
  nested: ObjectRef<{ inner: ObjectRef<number>; text: string }>;
}

/** The reference that a trainer keeps. */
export interface Kept {
  weights: ObjectRef<Float32Array>;
}

/** Takes references, and reads their values. */
export interface Trainer extends Actor<[initial?: ObjectRef<number>]> {
  /** Reads the value, and keeps the array. */
  load(weights: ObjectRef<Float32Array>): Reading;
  /** Keeps the reference, and does not read the value. */
  keep(weights: ObjectRef<Float32Array>): void;
  /** Reads the value of the reference that is kept. */
  read(timeout?: Uint32): Reading;
  /** Writes into the array, and answers with what it was before. */
  scribble(by: Float32): Float32;
  /** Answers with the sum of all values. */
  sum(batch: Batch): Float32;
  number(value: ObjectRef<number>): number;
  /** The value of the argument of the constructor. */
  initial(): number;
  /** Answers with the reference that is kept. */
  give(): Kept;
  giveMany(count: Uint32): Stream<Kept>;
  /** Drops the reference and the array. */
  drop(): void;
  /** The inodes of the sealed memory that this process has open or mapped. */
  inodes(): string[];
  /** The error of `get`: its class and its text. */
  whyNot(): string;
  /** Releases the reference that is kept. */
  release(): void;
  /** The error of starting tasks here. */
  startTasks(): string;
}
