/** What the benchmarks call: meshes spawned as any user would. */
import { attachHosts, onUnhandledFault, thisHost } from "viceroy";
import type { EchoMesh } from "../generated/echo.js";
import "../generated/registry.js";
import { BookKeeper } from "./book-keeper.js";
import { EchoServer } from "./echo-server.js";
import { MemoryGauge, NumberCell, SlowSink } from "./gauge.js";

export interface EchoProcs {
  readonly echo: EchoMesh<"procs">;
  stop(): Promise<void>;
}

/** `count` processes with one echo server each; `cpus`: the cores that each of them may use. */
export function spawnEcho(
  count: number,
  isolation: "process" | "thread" | "inline" = "process",
  cpus?: string,
): EchoProcs {
  const bound = cpus === undefined ? {} : { cpus: new Array<string>(count).fill(cpus) };
  const procs = thisHost().spawnProcs({ procs: count }, { isolation, ...bound });
  return { echo: procs.spawn("echo", EchoServer), stop: () => procs.stop() };
}

/** A process with an echo server on a host that is attached. */
export function spawnEchoAt(address: string, options: Parameters<typeof attachHosts>[1]) {
  const hosts = attachHosts([address], options);
  const echo = hosts.spawnProcs().spawn("echo", EchoServer).slice({ hosts: 0 });
  return { echo, stop: () => hosts.stop() };
}

/** Attaches hosts; `spawn` starts processes with an echo server each on all of them. */
export function attachAll(addresses: readonly string[], options: Parameters<typeof attachHosts>[1]) {
  const hosts = attachHosts(addresses, options);
  return {
    ready: hosts.ready,
    spawn(each: number) {
      const procs = hosts.spawnProcs({ gpus: each });
      return { ready: procs.ready, echo: procs.spawn("echo", EchoServer) };
    },
    stop: () => hosts.stop(),
  };
}

/** Resolves when this program is told of the next failure that nobody has handled: all of its meshes are its own. */
export function nextFailure(): Promise<unknown> {
  return new Promise((resolve) => onUnhandledFault(resolve));
}

/** One process with a gauge in it. */
export function spawnMeasured() {
  const procs = thisHost().spawnProcs({ procs: 1 });
  return {
    gauge: procs.spawn("gauge", MemoryGauge),
    cell: (i: number) => procs.spawn(`cell-${i}`, NumberCell, i),
    sink: () => procs.spawn("sink", SlowSink),
    stop: () => procs.stop(),
  };
}

/** Processes with a keeper of memory each. */
export function spawnKeepers(count: number) {
  const procs = thisHost().spawnProcs({ procs: count });
  const keepers = procs.spawn("keepers", BookKeeper);
  return { at: (proc: number) => keepers.slice({ procs: proc }), all: keepers, stop: () => procs.stop() };
}
