/** Prints what a job has printed: with the mesh and the rank of each line, or as JSON. */
import type { JobLogLine } from "../provider.js";
import type { CommandOutput } from "./command-options.js";

export async function printLogs(
  lines: AsyncIterable<JobLogLine>,
  json: boolean,
  { out }: CommandOutput,
): Promise<void> {
  for await (const entry of lines) out(json ? JSON.stringify(entry) : formatLine(entry));
}

function formatLine({ mesh, rank, line }: JobLogLine): string {
  return mesh === undefined ? line : `${mesh}[${rank}] ${line}`;
}
