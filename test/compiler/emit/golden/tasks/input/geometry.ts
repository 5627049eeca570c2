import type { Actor, Float32, Mesh, Port, RdmaBuffer, Task, Uint32 } from "viceroy/schema";
import type { Line } from "./shapes.js";

/** The square of a number. */
export interface Square extends Task<[n: number], number> {}

/**
 * Counts the words of a text.
 *
 * Words that are shorter than `shortest` do not count.
 *
 * @idempotent
 */
export interface CountWords extends Task<[text: string, shortest?: Uint32], Map<string, Uint32>> {}

/** Neither arguments nor a result. */
export interface Sweep extends Task {}

/** The result of one is the argument of another. */
export interface Cut extends Task<[line: Line, parts: Uint32 | undefined], Line[]> {}
export interface Join extends Task<[lines: Line[]], Line | null> {}

/** Types that are written in place. */
export interface Render extends Task<
  [
    scene: { lines: Line[]; title?: string },
    size: [width: Uint32, height: Uint32],
    colours: "grey" | "full",
    to: { kind: "file"; path: string } | { kind: "memory"; limit: Uint32 },
  ],
  { pixels: Uint8Array }
> {}

export interface Counter extends Actor<[]> {
  value(): Uint32;
}

/** Handles. */
export interface Report extends Task<[to: Port<Line>, counters: Mesh<Counter>, memory: RdmaBuffer], RdmaBuffer> {}

type Options = [radius: Float32, steps?: Uint32];
export interface Circle extends Task<Options, Page<Line>> {}

export interface Page<T> {
  items: T[];
}
