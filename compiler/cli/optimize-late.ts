/**
 * How soon V8 compiles what it runs with its optimizing compiler. One compilation is over before that has paid: on two
 * cores it takes a third of the processor time and a fifth of the time of a thousand interfaces, for functions that run
 * a few milliseconds more. Later versions of V8 have a cheaper compiler in between, and choose well.
 */
import { setFlagsFromString } from "node:v8";

/** V8's own default is 67,584 (bytes of bytecode that a function has run). What matters is its magnitude. */
const budget = 500_000;

/** For a process of our own alone: it is set for all that runs in it. */
export function optimizeLate(): void {
  // A flag that a version does not know would be complained of on stderr.
  if (process.versions.v8.startsWith("11.")) setFlagsFromString(`--interrupt-budget=${budget}`);
}
