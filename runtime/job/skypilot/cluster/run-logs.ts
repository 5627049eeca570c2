/** Reads the output of the hosts of a run. SkyPilot keeps it on the machines, and the folder of the run has a copy from before their end. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JobLogLine, LogRequest } from "../../provider.js";
import type { SkyPilotApi } from "../api/skypilot-api.js";
import { SkyPilotError } from "../api/skypilot-error.js";
import { readHostLine } from "../machine/host-lines.js";

/** Time in ms for SkyPilot to tell what the hosts have printed before they end. */
const lastLogMs = 20_000;

/** Returns the file with the log of a cluster. @param folder that of the run */
export function clusterLogFile(folder: string, cluster: string): string {
  return join(folder, `${cluster}.log`);
}

/** Reads the log of a cluster, or its copy. */
export async function* readClusterLog(
  api: SkyPilotApi,
  folder: string,
  cluster: string,
  request: LogRequest,
): AsyncGenerator<JobLogLine, void> {
  for await (const text of linesOf(api, folder, cluster, request)) {
    const read = readHostLine(text);
    if ("announcement" in read) continue;
    yield "place" in read ? { ...read.place, line: read.line } : { line: read.other };
  }
}

async function* linesOf(
  api: SkyPilotApi,
  folder: string,
  cluster: string,
  { follow, signal }: LogRequest,
): AsyncGenerator<string, void> {
  const file = clusterLogFile(folder, cluster);
  let hasLines = false;
  try {
    for await (const { kind, text } of api.jobLog(cluster, follow, { signal })) {
      if (kind !== "text") continue;
      hasLines = true;
      yield text;
    }
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof SkyPilotError) || !existsSync(file)) throw error;
  }
  // SkyPilot answers with nothing, or with an error, when the machines have gone.
  if (hasLines || !existsSync(file)) return;
  for (const line of readFileSync(file, "utf8").split("\n")) if (line !== "") yield line;
}

/** Copies the log of a cluster that is about to end. What cannot be read is left out. */
export async function keepClusterLog(api: SkyPilotApi, folder: string, cluster: string): Promise<void> {
  const lines: string[] = [];
  try {
    for await (const { kind, text } of api.jobLog(cluster, false, { signal: AbortSignal.timeout(lastLogMs) })) {
      if (kind === "text") lines.push(text);
    }
    if (lines.length > 0) writeFileSync(clusterLogFile(folder, cluster), `${lines.join("\n")}\n`, { mode: 0o600 });
  } catch {
    // The file has what this program has read while it waited for hosts.
  }
}
