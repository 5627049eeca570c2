/** Prints what a job has printed: equal lines of several ranks as one line, or each line as JSON. */
import type { JobLogLine } from "../provider.js";
import type { CommandOutput } from "./command-options.js";
import { RankFolder } from "./fold-ranks.js";
import { FoldingPrinter } from "./folding-printer.js";

/** @param follow whether the lines are printed now. Otherwise, all of them are there, and are folded together. */
export async function printLogs(
  lines: AsyncIterable<JobLogLine>,
  { json, follow }: { readonly json: boolean; readonly follow: boolean },
  { out }: CommandOutput,
): Promise<void> {
  const folder = follow ? new FoldingPrinter(out) : new RankFolder(out);
  for await (const entry of lines) {
    const { mesh, rank = 0, line } = entry;
    if (json) out(JSON.stringify(entry));
    else if (mesh === undefined) {
      // The command of a batch job is one process, whose lines need not wait.
      if (!follow) folder.flush();
      out(line);
    } else folder.add({ mesh, rank, line });
  }
  folder.flush();
}
