/** The ports of one actor: those that it has opened, which close when it ends, and those that it has received. */
import type { Session } from "../../link/outbound/session.js";
import { OwnedPorts } from "../port/owned-ports.js";
import type { ActorIdentity } from "../reference/local-actor.js";
import type { OpenPort, PortOwner } from "../reference/open-port.js";

export class ActorPorts implements PortOwner {
  readonly #actor: ActorIdentity;
  #opened: Set<OpenPort> | undefined;
  /** The ports that the actor has received and has not dropped. */
  #owned: OwnedPorts | undefined;

  constructor(actor: ActorIdentity) {
    this.#actor = actor;
  }

  add(port: OpenPort): void {
    this.#opened ??= new Set();
    this.#opened.add(port);
  }

  remove(port: OpenPort): void {
    this.#opened?.delete(port);
  }

  ownDecoded(): void {
    this.#received.ownDecoded();
  }

  /** Releases the ports in the message that was decoded last, because no handler receives them. */
  releaseDecoded(): void {
    this.#received.releaseDecoded();
  }

  /**
   * Closes the ports that the actor has opened, and releases those that it has received, because the actor has ended.
   *
   * @param sessions the sessions of the actor, whose messages to the ports are sent first
   */
  close(sessions: Iterable<Session>): void {
    for (const port of [...(this.#opened ?? [])]) port.close("the actor that opened it has ended");
    this.#owned?.releaseAll(sessions);
    this.#owned = undefined;
  }

  get #received(): OwnedPorts {
    this.#owned ??= new OwnedPorts(this.#actor.proc, this.#actor.id);
    return this.#owned;
  }
}
