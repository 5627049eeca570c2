/**
 * The ports that one actor was sent and has not dropped. When the actor ends, the owners of the ports are told under
 * every name that a sender can have used for it, because senders learn late that an actor has been replaced.
 */
import type { ActorId } from "../../link/address.js";
import type { Session } from "../../link/outbound/session.js";
import type { ActorProc } from "../reference/actor-proc.js";
import { announceHolder, holderName, type PortHolder, portsRead, releaseHolder } from "./announce-holders.js";
import type { PortTarget } from "./port-target.js";

export class OwnedPorts {
  readonly #proc: ActorProc;
  readonly #id: ActorId;
  readonly #ports = new Set<PortTarget>();

  constructor(proc: ActorProc, id: ActorId) {
    this.#proc = proc;
    this.#id = id;
  }

  /** Makes the ports in the message that was decoded last the actor's own. */
  ownDecoded(): void {
    const held = this.#ports;
    const { incarnation } = this.#id;
    for (const port of portsRead.splice(0)) {
      const { target, received } = port;
      if (received !== undefined) {
        received(() => this.#release(target));
        continue;
      }
      held.add(target);
      // The sender may have announced the previous incarnation as the holder.
      if (incarnation > 0) announceHolder(this.#proc, target, this.#holder(incarnation));
      this.#proc.drops.watch(port, { dropped: () => held.delete(target) });
    }
  }

  /** Releases the ports in the message that was decoded last, because no actor receives them. */
  releaseDecoded(): void {
    for (const { target } of portsRead.splice(0)) this.#release(target);
  }

  /**
   * Releases all ports when the actor has ended.
   *
   * @param sessions the sessions of the actor. A port is released only after the actor's messages to that port are
   * sent.
   */
  releaseAll(sessions: Iterable<Session>): void {
    const all = [...sessions];
    for (const port of this.#ports) {
      const behind = all.filter(({ target }) => target.number === port.number);
      let left = behind.length + 1;
      const sent = (): void => {
        if (--left === 0) this.#release(port);
      };
      for (const session of behind) session.afterAllSent(sent);
      sent();
    }
    this.#ports.clear();
  }

  #release(port: PortTarget): void {
    for (let i = 0; i <= this.#id.incarnation; i++) releaseHolder(this.#proc, port, this.#holder(i));
  }

  #holder(incarnation: number): PortHolder {
    const { mesh, rank } = this.#id;
    return { proc: this.#proc.id, name: holderName({ mesh, rank, incarnation }) };
  }
}
