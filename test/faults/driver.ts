/**
 * A driver in a separate process, which puts load on its hosts and counts the results. Its arguments are the addresses
 * of the hosts. It prints reports as lines of JSON, and reads orders from standard input, one in each line:
 *
 * - `check`: ends the load and prints the results.
 * - `go`: continues the load.
 * - `end`: stops everything and exits.
 */
import { createInterface } from "node:readline";
import { attachHosts, onUnhandledFault } from "viceroy";
import "../fixtures/crew/generated/registry.js";
import { HonestTally } from "../fixtures/crew/src/honest-tally.js";
import { Load, type LoadOptions } from "./load.js";

export interface DriverOrder {
  readonly addresses: readonly string[];
  readonly token?: string;
  readonly silence: number;
  readonly keepAlive: number;
  /** The host through which the driver reaches all others, and the limit of its absence in ms. */
  readonly through?: string;
  readonly absence?: number;
  readonly load?: Partial<LoadOptions>;
}

/** A line of its output. */
export type DriverLine =
  | { readonly kind: "ready"; readonly pids: readonly number[] }
  | { readonly kind: "failure"; readonly mesh: string; readonly ranks: readonly number[]; readonly why: string }
  | { readonly kind: "broken"; readonly text: string }
  | {
      readonly kind: "checked";
      readonly done: number;
      readonly refused: Readonly<Record<string, number>>;
      readonly violations: readonly string[];
      /** The number of messages that each rank has handled; null if the rank does not exist any more. */
      readonly taken: readonly (number | null)[];
    };

/** Time limit in ms for all operations to end after a fault. */
const patience = 100_000;

function say(line: DriverLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

const {
  addresses,
  token,
  silence,
  keepAlive,
  through,
  absence,
  load: options,
} = JSON.parse(process.argv[2]!) as DriverOrder;
onUnhandledFault(({ mesh, ranks, cause }) => say({ kind: "failure", mesh, ranks, why: cause.message }));
const gateway = { ...(through ? { through } : {}), ...(absence ? { absence } : {}) };
const hosts = attachHosts(addresses, { silence, keepAlive, timeout: 60_000, ...(token ? { token } : {}), ...gateway });
const stdio = (text: string) => say({ kind: "broken", text });
const tallies = hosts.spawnProcs({ gpus: 2 }, { stdio }).spawn("tallies", HonestTally);
await tallies.meet.call(tallies);
const pids = [...(await tallies.report.call()).values()].map(({ pid }) => pid);
const load = new Load(tallies, {
  name: "driver",
  seed: 1,
  workers: 16,
  pause: 5,
  large: 1 << 20,
  peers: tallies.size,
  cells: 70,
  ...options,
});
load.start();
say({ kind: "ready", pids });

async function check(): Promise<void> {
  const late = setTimeout(() => say({ kind: "broken", text: `never ended: ${load.pending.join(", ")}` }), patience);
  await load.stop();
  await load.confirm();
  clearTimeout(late);
  const reports = await tallies.report.callSettled();
  say({
    kind: "checked",
    done: load.done,
    refused: Object.fromEntries(load.refused),
    violations: [
      ...load.violations,
      ...[...reports.values()].flatMap((report) => (report.status === "fulfilled" ? report.value.violations : [])),
    ],
    taken: [...reports.values()].map((report) => (report.status === "fulfilled" ? report.value.taken : null)),
  });
}

for await (const order of createInterface(process.stdin)) {
  if (order === "check") await check();
  else if (order === "go") load.start();
  else if (order === "end") {
    await hosts.stop();
    process.exit(0);
  }
}
