/** Writes the folder of the run in the pod of its command, from which the program there uses the job. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { recordFileOf } from "../../../batch/client.js";
import type { CommandOrder } from "../command-order.js";

/** @returns the folder, which only the user of the pod can open */
export function writeRun(folder: string, { record, files }: Pick<CommandOrder, "record" | "files">): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const [name, content] of Object.entries(files)) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, content, { mode: 0o600 });
  }
  writeFileSync(recordFileOf(folder), record, { mode: 0o600 });
  return folder;
}
