/** The tasks of the benchmark. */
import { task } from "viceroy/tasks";
import { usage } from "../memory/usage.js";

export const first = task(import.meta.url, "first", (bytes) => bytes[0]);

let made;
/** Returns bytes that exist already, so that making them does not count. */
export const make = task(import.meta.url, "make", (bytes) => {
  made ??= new Uint8Array(bytes).fill(7);
  return made;
});

export const same = task(import.meta.url, "same", (value) => value);

const kept = [];
/** Keeps a value, in place of the last one. */
export const keep = task(import.meta.url, "keep", (value) => {
  kept[0] = value;
});

/** Returns the bytes of the heap of the worker, and outside of it. */
export const heapOfWorker = task(import.meta.url, "heapOfWorker", () => usage().heap);
