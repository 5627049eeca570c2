/** Has large values, and runs tasks that read them, on hosts whose addresses are its arguments. It serves calls of the functions below. */
import { attachHosts } from "viceroy";
import { JobContext, type ObjectRef, type TaskRunner } from "viceroy/tasks";
import * as tasks from "../../../fixtures/tasks/large-values.js";
import { serveCalls } from "./serve-calls.js";

const addresses = process.argv.slice(2);
await using hosts = attachHosts(addresses, { timeout: 10_000, silence: 10_000 });
await using context = await JobContext.open({ hosts, procs: 2, resources: { cpus: 4 } });
const group = await context.placementGroup(
  addresses.map(() => ({ cpus: 2 })),
  { strategy: "strictSpread" },
);
const runners: TaskRunner[] = addresses.map((_, bundle) =>
  context.with({ placement: group.slice({ bundles: bundle }), resources: { cpus: 1 } }),
);
const refs = new Map<string, ObjectRef<Uint8Array>>();

const calls: Record<string, (...args: never[]) => unknown> = {
  /** Starts the worker processes. */
  warm: () =>
    context.get(runners.flatMap((runner) => [runner.run(tasks.filled, 1, 1), runner.run(tasks.filled, 1, 1)])),
  put(name: string, bytes: number, value: number) {
    refs.set(name, context.put(new Uint8Array(bytes).fill(value)));
  },
  /** Makes a value by a task. */
  async make(name: string, bytes: number, value: number, host: number) {
    const ref = runners[host]!.run(tasks.filled, bytes, value);
    refs.set(name, ref);
    await context.wait([ref]);
  },
  /** Makes a value on any host, by a task that may run again, of another value. */
  async makeOf(name: string, bytes: number, from: string) {
    const ref = context.run(tasks.filledLike, bytes, refs.get(from)!);
    refs.set(name, ref);
    await context.wait([ref]);
  },
  /** Drops a reference without releasing the value. */
  drop: (name: string) => void refs.delete(name),
  /** Reads a value by `count` tasks on each of some hosts, at the same time. Returns what they have read. */
  read: (name: string, on: number[], count: number) =>
    context.get(
      on.flatMap((host) => Array.from({ length: count }, () => runners[host]!.run(tasks.checked, refs.get(name)!))),
    ),
  async get(name: string) {
    return (await context.get(refs.get(name)!))[0];
  },
  cancel: (name: string) => context.cancel(refs.get(name)!),
  close: () => context.close(),
  release: (name: string) => refs.get(name)!.release(),
};

await serveCalls(calls);
