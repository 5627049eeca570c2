/** The open ports of a proc, by number. */

import type { ActorId, ProcId } from "../../link/address.js";
import { DeliveryError } from "../../link/errors.js";
import type { Destination } from "../../link/inbound/lane.js";
import type { SessionTarget } from "../../link/outbound/message-sender.js";
import { RefusingDestination } from "../delivery/refusing-destination.js";
import type { OpenPort } from "../reference/open-port.js";

export class OpenPorts {
  readonly #ports = new Map<bigint, OpenPort>();

  open(port: OpenPort): void {
    this.#ports.set(port.number, port);
    port.owner.add(port);
  }

  close(port: OpenPort): void {
    this.#ports.delete(port.number);
    port.owner.remove(port);
  }

  /** Returns the destination of a lane that `sender` has opened to a port. */
  destinationOf({ number, fingerprint }: SessionTarget, sender: ActorId): Destination {
    const port = this.#ports.get(number);
    if (port === undefined) return new RefusingDestination(new DeliveryError("unknown", "its receiver is gone"));
    if (port.codec.fingerprint !== fingerprint) {
      return new RefusingDestination(
        new DeliveryError("refused", `it is a port of ${port.codec.name}, and of nothing else`),
      );
    }
    port.laneOpenedBy(sender);
    return port;
  }

  /** Adds or removes a holder of a port. */
  setHolder(number: bigint, holder: string, proc: ProcId, held: boolean): void {
    this.#ports.get(number)?.setHolder(holder, proc, held);
  }

  /**
   * Removes an actor that has ended from the holders of all ports, because it may have been sent ports of this proc
   * that it never received.
   */
  holderEnded(holder: string): void {
    for (const port of [...this.#ports.values()]) port.setHolder(holder, 0n, false);
  }

  /** Removes all holders that lived in a proc that has ended. */
  peerDown(peer: ProcId, reason: string): void {
    for (const port of [...this.#ports.values()]) port.peerDown(peer, reason);
  }
}
