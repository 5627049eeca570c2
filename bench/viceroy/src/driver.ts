/** The functions that benchmarks call. They spawn meshes as users do. */
import { attachHosts, onUnhandledFault, thisHost } from "viceroy";
import type { EchoMesh } from "../generated/echo.js";
import "../generated/registry.js";
import { EchoServer } from "./echo-server.js";
import { MemoryGauge, NumberCell, SlowSink } from "./gauge.js";
import { RdmaBufferOwner } from "./rdma-buffer-owner.js";

export { EchoServer };

export interface EchoProcs {
  readonly echo: EchoMesh<"procs">;
  stop(): Promise<void>;
}

/** Spawns `count` processes with one echo server each. @param cpus the cores that each of them may use */
export function spawnEcho(
  count: number,
  isolation: "process" | "thread" | "inline" = "process",
  cpus?: string,
): EchoProcs {
  const bound = cpus === undefined ? {} : { cpus: new Array<string>(count).fill(cpus) };
  const procs = thisHost().spawnProcs({ procs: count }, { isolation, ...bound });
  return { echo: procs.spawn("echo", EchoServer), stop: () => procs.stop() };
}

/** Spawns `count` processes with one echo server each. `grow` gives them another number of processes. */
export function spawnResizable(count: number) {
  const procs = thisHost().spawnProcs({ procs: count });
  const echo = procs.spawn("echo", EchoServer);
  const grow = (to: number) => procs.resize({ procs: to }).resizeActors(echo);
  return { echo, grow, stop: () => procs.stop() };
}

/** Spawns one process with an echo server, which is restarted after a failure. @param spares the number of processes that wait for that */
export function spawnRestarted(spares: number) {
  const restart = { policy: "on-failure", backoff: 1 } as const;
  const procs = thisHost().spawnProcs({ procs: 1 }, { restart, spares });
  return { echo: procs.spawn("echo", EchoServer).slice({ procs: 0 }), stop: () => procs.stop() };
}

/** Attaches a host and spawns a process with an echo server on it. */
export function spawnEchoAt(address: string, options: Parameters<typeof attachHosts>[1]) {
  const hosts = attachHosts([address], options);
  const echo = hosts.spawnProcs().spawn("echo", EchoServer).slice({ hosts: 0 });
  return { echo, stop: () => hosts.stop() };
}

/** Attaches hosts. `spawn` starts processes with one echo server each on all of them. */
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

/** Resolves at the next failure that no owner has handled. This program owns all of its meshes. */
export function nextFailure(): Promise<unknown> {
  return new Promise((resolve) => onUnhandledFault(resolve));
}

/** Spawns one process with a gauge. */
export function spawnGauged() {
  const procs = thisHost().spawnProcs({ procs: 1 });
  return {
    gauge: procs.spawn("gauge", MemoryGauge),
    cell: (i: number) => procs.spawn(`cell-${i}`, NumberCell, i),
    sink: () => procs.spawn("sink", SlowSink),
    stop: () => procs.stop(),
  };
}

/** Spawns `count` processes with one owner of a buffer each. */
export function spawnBufferOwners(count: number) {
  const procs = thisHost().spawnProcs({ procs: count });
  const owners = procs.spawn("owners", RdmaBufferOwner);
  return { at: (proc: number) => owners.slice({ procs: proc }), stop: () => procs.stop() };
}
