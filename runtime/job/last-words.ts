/** The end of what hosts have printed, for the error about hosts that are not up in time. */
import { formatPlace } from "./mesh-spec.js";
import type { JobLogLine } from "./provider.js";

/** The numbers of hosts, of lines and of characters per line that are shown. */
const shownHosts = 3;
const shownLines = 3;
const shownCharacters = 300;

/**
 * Returns what some hosts have printed at last, as text for an error; empty if they have printed nothing.
 * @param places the names of the hosts
 */
export async function lastWords(logs: AsyncIterable<JobLogLine>, places: readonly string[]): Promise<string> {
  const shown = new Map<string, string[]>(places.slice(0, shownHosts).map((place) => [place, []]));
  try {
    for await (const { line, mesh, rank } of logs) {
      // The command of a batch job has no rank.
      if (mesh === undefined || rank === undefined) continue;
      const lines = shown.get(formatPlace({ mesh, rank }));
      if (lines === undefined || line.trim() === "") continue;
      lines.push(line.slice(0, shownCharacters));
      if (lines.length > shownLines) lines.shift();
    }
  } catch {
    // The error about the hosts counts, not one about their logs.
  }
  return [...shown]
    .filter(([, lines]) => lines.length > 0)
    .map(([place, lines]) => `the output of ${place} ends with: ${lines.join("\n")}`)
    .join("; ");
}
