/**
 * The garbage collector, which a task calls at its end. V8 does not know that the machine is short of memory: it lets several times of
 * what is in use become garbage, which here is the lines of whole sections and buckets.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");

export const collectGarbage = runInNewContext("gc") as () => void;
