/** The address of a port, as senders know it. */

import type { Location, ProcId } from "../../link/address.js";
import type { SessionTarget } from "../../link/outbound/message-sender.js";

/** The address of a port's receiver. */
export class PortTarget implements SessionTarget {
  readonly kind = "port";
  readonly rank = 0;
  readonly proc: ProcId;
  readonly number: bigint;
  readonly fingerprint: bigint;
  readonly location: Location;

  constructor(proc: ProcId, number: bigint, fingerprint: bigint, location: Location) {
    this.proc = proc;
    this.number = number;
    this.fingerprint = fingerprint;
    this.location = location;
  }

  get owner(): ProcId {
    return this.proc;
  }

  /** The key of sessions to the port, the same for all handles of the port. */
  get key(): string {
    return `port ${this.number}`;
  }
}
