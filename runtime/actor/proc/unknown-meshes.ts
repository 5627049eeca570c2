/**
 * Messages for actors of meshes that a proc does not know, either not yet or not any more. They wait until the actor is
 * created, or until the owner of the mesh says that there is no such mesh.
 */

import type { MeshId, ProcId } from "../../link/address.js";
import { DeliveryError } from "../../link/errors.js";
import type { Destination } from "../../link/inbound/lane.js";
import type { Link } from "../../link/link.js";
import type { SessionTarget } from "../../link/outbound/message-sender.js";
import type { RoutingTable } from "../../link/routing-table.js";
import { EarlyMessages } from "../delivery/early-messages.js";
import type { ProcHooks } from "../reference/proc-hooks.js";
import type { PeerQuestions } from "./peer-questions.js";

export interface UnknownMeshesOptions {
  /** The proc that receives the messages. */
  readonly id: ProcId;
  readonly hooks: ProcHooks;
  readonly routes: RoutingTable;
  readonly questions: PeerQuestions;
}

export class UnknownMeshes {
  readonly #options: UnknownMeshesOptions;
  readonly #messages = new Map<MeshId, EarlyMessages>();

  constructor(options: UnknownMeshesOptions) {
    this.#options = options;
  }

  /**
   * Returns the destination that keeps the messages for a mesh, and asks the owner of the mesh about it. If the owner says
   * that the mesh exists, the messages stay until `release` follows.
   *
   * @param link the link on which the first message arrived
   */
  hold(link: Link, { number: mesh, owner }: SessionTarget): Destination {
    const known = this.#messages.get(mesh);
    if (known !== undefined) return known;
    const messages = new EarlyMessages();
    this.#messages.set(mesh, messages);
    const { id, hooks, questions } = this.#options;
    const answered = (exists: boolean): void => {
      if (!exists) this.#refuse(mesh);
    };
    if (owner === id) {
      hooks.meshOrdered(mesh).then(answered, () => answered(false));
      return messages;
    }
    // The sender of the message has a route to the owner, if this proc has none of its own.
    const toOwner = link.peer === owner ? link : this.#linkToOwner(owner, link.peer);
    if (toOwner === undefined) queueMicrotask(() => this.#refuse(mesh));
    else questions.ask(toOwner, mesh, answered);
    return messages;
  }

  /** Passes the messages for a mesh to its actor, which has been created or refused. */
  release(mesh: MeshId, actor: Destination): void {
    const messages = this.#messages.get(mesh);
    this.#messages.delete(mesh);
    messages?.release(actor);
  }

  #refuse(mesh: MeshId): void {
    const messages = this.#messages.get(mesh);
    this.#messages.delete(mesh);
    messages?.refuse(new DeliveryError("unknown", "there is no such actor, or not any more"));
  }

  #linkToOwner(owner: ProcId, through: ProcId | undefined): Link | undefined {
    const { routes } = this.#options;
    return routes.deathOf(owner) === undefined ? routes.linkTo(owner, "", through) : undefined;
  }
}
