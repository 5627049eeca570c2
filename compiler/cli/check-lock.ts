/** What `compile --check` says beside drift: what the schemas break of what the lock remembers. */
import path from "node:path";
import type { Config } from "../config/index.js";
import { type CompiledOutput, readIfThere } from "../pipeline/index.js";
import { lockBreaks } from "../pipeline/lock-breaks.js";
import type { Io } from "./io.js";
import { printableOf, printBreaks } from "./print-breaks.js";

/** @returns whether nothing is broken */
export function checkLock(config: Config, { schema, lock }: CompiledOutput, json: boolean, io: Io): boolean {
  const breaks = lockBreaks(config, schema, lock.text);
  printBreaks(
    breaks.map(printableOf),
    (file) => readIfThere(path.join(config.root, file)),
    { json, root: config.root },
    io,
  );
  return breaks.length === 0;
}
