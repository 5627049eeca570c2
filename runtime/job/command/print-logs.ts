/** Prints what a job has printed: equal lines of several ranks as one line, or each line as JSON. */
import type { JobLogLine } from "../provider.js";
import type { CommandOutput } from "./command-options.js";
import { RankFolder } from "./fold-ranks.js";

/** Time in ms for which lines that arrive are folded. It is longer than the time between two looks at log files. */
const windowMs = 600;

/** @param follow whether the lines are printed now. Otherwise, all of them are there, and are folded together. */
export async function printLogs(
  lines: AsyncIterable<JobLogLine>,
  { json, follow }: { readonly json: boolean; readonly follow: boolean },
  { out }: CommandOutput,
): Promise<void> {
  const folder = new RankFolder(out);
  let timer: NodeJS.Timeout | undefined;
  for await (const entry of lines) {
    const { mesh, rank = 0, line } = entry;
    if (json) out(JSON.stringify(entry));
    else if (mesh === undefined) {
      // The command of a batch job is one process, whose lines need not wait.
      if (!follow) folder.flush();
      out(line);
    } else {
      folder.add({ mesh, rank, line });
      if (!follow || timer !== undefined) continue;
      timer = setTimeout(() => {
        timer = undefined;
        folder.flush();
      }, windowMs);
    }
  }
  clearTimeout(timer);
  folder.flush();
}
