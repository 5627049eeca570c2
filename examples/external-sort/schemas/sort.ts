import type { ObjectRef, Task, Uint32 } from "viceroy/schema";

/** A section of the input: the lines that begin in it. */
export interface Section {
  file: string;
  /** The first byte, and the byte after the last one. */
  start: number;
  end: number;
}

/** The place of a bucket in the output. */
export interface Target {
  file: string;
  /** The first byte, and the number of bytes. */
  start: number;
  size: number;
}

/** The lines of one section and one bucket. */
export interface Part {
  /** The number of bytes. */
  size: number;
  lines: ObjectRef<Uint8Array>;
}

/** Deals the lines of a section to buckets. Bucket `i` gets the lines from splitter `i - 1` on, and below splitter `i`. */
export interface Deal extends Task<[section: Section, splitters: Uint8Array[]], Part[]> {}

/**
 * Sorts the lines of one bucket, writes them to the output, and returns their number.
 *
 * @idempotent
 */
export interface SortBucket extends Task<[parts: ObjectRef<Uint8Array>[], target: Target], Uint32> {}
