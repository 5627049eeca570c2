/** The tasks of the benchmark. */
import { task } from "viceroy/tasks";

export const first = task(import.meta.url, "first", (bytes) => bytes[0]);

let made;
/** Returns bytes that exist already, so that making them does not count. */
export const make = task(import.meta.url, "make", (bytes) => {
  made ??= new Uint8Array(bytes).fill(7);
  return made;
});
