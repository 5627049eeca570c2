/**
 * The ports that one actor was sent and has not dropped. Their owners hear when it ends, by every name that senders may know
 * it by: those who send hear late that an actor has been replaced.
 */
import type { ActorId } from "../../link/address.js";
import type { Session } from "../../link/session.js";
import type { Proc } from "../proc/proc.js";
import { announceHolder, holderName, type PortHolder, portsRead, releaseHolder } from "./announce-holders.js";
import type { PortTarget } from "./port.js";

export class OwnedPorts {
  readonly #proc: Proc;
  readonly #id: ActorId;
  readonly #ports = new Set<PortTarget>();

  constructor(proc: Proc, id: ActorId) {
    this.#proc = proc;
    this.#id = id;
  }

  /** The ports in what was decoded last are the actor's now. */
  ownDecoded(): void {
    const held = this.#ports;
    const { incarnation } = this.#id;
    for (const port of portsRead.splice(0)) {
      const { target } = port;
      held.add(target);
      // The sender may have taken it for the one before.
      if (incarnation > 0) announceHolder(this.#proc, target, this.#holder(incarnation));
      this.#proc.drops.watch(port, { dropped: () => held.delete(target) });
    }
  }

  /** Nobody gets the ports in what was decoded last. */
  releaseDecoded(): void {
    for (const { target } of portsRead.splice(0)) this.#release(target);
  }

  /** The actor has ended. @param sessions by which it has sent: its ports are let go of behind what it has said by them */
  releaseAll(sessions: Iterable<Session>): void {
    const all = [...sessions];
    for (const port of this.#ports) {
      const behind = all.filter(({ target }) => target.number === port.number);
      let left = behind.length + 1;
      const sent = (): void => {
        if (--left === 0) this.#release(port);
      };
      for (const session of behind) session.afterSending(sent);
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
