/** What this machine can do with memory of other processes, for people: `viceroy doctor` prints it. Opens nothing. */
import { readFileSync } from "node:fs";
import { systemClock, systemRandom } from "../link/clock.js";
import { linkTransport } from "../link/shared/choice.js";
import { rdmaAddonState } from "../native/rdma-addon.js";
import { createBackends } from "./backends.js";
import type { Transport } from "./transport.js";

export interface TransportSupport {
  readonly transport: Transport;
  /** Whether the owner's event loop does nothing for a transfer. */
  readonly oneSided: boolean;
  /** Why it cannot be used; undefined: it can, where the other process can, too. */
  readonly why?: string;
}

export interface RdmaSupport {
  /** The file of the addon. */
  readonly addon?: string;
  /** Why there is none. */
  readonly why?: string;
  /** What `vm` is restricted to by this machine (Yama's ptrace_scope); 0: nothing. */
  readonly ptraceScope: number;
  readonly transports: readonly TransportSupport[];
  /** What links between processes of this machine go by. */
  readonly links: string;
}

export function rdmaSupport(): RdmaSupport {
  const state = rdmaAddonState();
  const nothing = () => Promise.reject(new Error("nothing is asked for here")) as never;
  const road = { universe: 0n, reachableAddress: undefined, askAgent: nothing, connect: nothing, listen() {} };
  const grants = { find: () => "forged" as const };
  const transports = createBackends(state.addon, road, grants, systemClock, systemRandom).map((backend) => {
    const why = backend.whyUnavailable();
    const { transport, oneSided } = backend;
    return { transport, oneSided, ...(why !== undefined && { why }) };
  });
  const addon = state.addon === undefined ? { why: state.why } : { addon: state.file };
  return { ...addon, ptraceScope: ptraceScope(), transports, links: linkTransport() };
}

function ptraceScope(): number {
  try {
    return Number(readFileSync("/proc/sys/kernel/yama/ptrace_scope", "latin1"));
  } catch {
    return 0;
  }
}
