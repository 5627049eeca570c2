/** What this process can do with memory of others, for people: `viceroy doctor` prints it. */
import { addonState } from "../native/rdma.js";
import { domain } from "./domain.js";
import type { Transport } from "./transport.js";

export interface TransportSupport {
  readonly transport: Transport;
  readonly oneSided: boolean;
  /** Undefined: it can be used. */
  readonly why: string | undefined;
}

export function rdmaSupport(): {
  readonly addon: string | undefined;
  readonly transports: readonly TransportSupport[];
} {
  const state = addonState();
  const support = domain().backends.map((backend) => ({
    transport: backend.transport,
    oneSided: backend.oneSided,
    why: backend.unavailable(),
  }));
  return { addon: state.addon === undefined ? undefined : state.file, transports: support };
}
