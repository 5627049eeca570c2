/** `rdmaSupport`: the transports that this machine supports, as `viceroy doctor` prints them. It opens no device. */
import { readFileSync } from "node:fs";
import { systemClock, systemRandom } from "../link/clock.js";
import { describeLinkTransport } from "../link/transport/shared-memory/select-addon.js";
import { rdmaAddonState } from "../native/rdma-addon.js";
import { createBackends } from "./domain/create-backends.js";
import type { Transport } from "./transport-names.js";

/** Whether this process can use a transport. */
export interface TransportSupport {
  /** The transport. */
  readonly transport: Transport;
  /** Whether transfers leave the owner's event loop alone. */
  readonly oneSided: boolean;
  /**
   * Why the transport cannot be used. Undefined if this process can use it; the other process must be able to, as well.
   */
  readonly why?: string;
}

/** The transports that this process and machine support. */
export interface RdmaSupport {
  /** The file of the addon. Absent if there is none. */
  readonly addon?: string;
  /** Why the addon is missing. */
  readonly why?: string;
  /** The value of Yama's `ptrace_scope` on this machine, which restricts the transport `vm`; 0 if it does not. */
  readonly ptraceScope: number;
  /** All transports, the fastest first. */
  readonly transports: readonly TransportSupport[];
  /** The mechanism that connections between processes of this machine use. */
  readonly links: string;
}

/** Returns which transports this process and machine support, and why others are not available. */
export function rdmaSupport(): RdmaSupport {
  const state = rdmaAddonState();
  const unused = () => Promise.reject(new Error("this connector reaches no process")) as never;
  const connector = { universe: 0n, reachableAddress: undefined, askAgent: unused, connect: unused, listen() {} };
  const grants = { find: () => "forged" as const };
  const transports = createBackends(state.addon, connector, grants, systemClock, systemRandom).map((backend) => {
    const why = backend.whyUnavailable();
    const { transport, oneSided } = backend;
    return { transport, oneSided, ...(why !== undefined && { why }) };
  });
  const addon = state.addon === undefined ? { why: state.why } : { addon: state.file };
  return { ...addon, ptraceScope: ptraceScope(), transports, links: describeLinkTransport() };
}

function ptraceScope(): number {
  try {
    return Number(readFileSync("/proc/sys/kernel/yama/ptrace_scope", "latin1"));
  } catch {
    return 0;
  }
}
