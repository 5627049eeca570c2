/** The log of the controller: one line of JSON for each decision and each change, so that it is an audit of who got what. */

/** Writes one line of the log. */
export type ControllerLog = (event: string, facts: Readonly<Record<string, unknown>>) => void;

/** Returns a log that prints its lines. */
export function printedLog(out: (line: string) => void, now: () => number): ControllerLog {
  return (event, facts) => out(JSON.stringify({ at: new Date(now()).toISOString(), event, ...facts }));
}
