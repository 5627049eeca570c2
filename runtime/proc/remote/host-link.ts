/** The connection to an attached host, as procs use it. `host/attached/` implements it. */
import type { Proc } from "../../actor/proc/proc.js";
import type { Pipe } from "../../link/transport/pipe.js";
import type { HostRoute } from "./host-route.js";

/** An attached host as procs see it. */
export interface HostLink {
  /** Opens a connection to the agent of the host. */
  connect(from: Proc): Promise<Pipe>;
  /** Marks the host, and everything that ran on it, as lost. Idempotent. */
  markLost(reason: string): void;
  /** The id of the daemon of the host, or undefined until it is known. */
  readonly daemon: bigint | undefined;
  /** The address, for messages to people. */
  readonly address: string;
  /** Whether this process reaches the host by a route of its own, because it does not reach the address. */
  readonly isRouted: boolean;
  /** The way to the host; undefined if this process dials its address. */
  readonly through: HostRoute | undefined;
}
