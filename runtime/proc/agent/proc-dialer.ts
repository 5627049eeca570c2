/** Connects a proc to other procs: to their sockets, through hosts, or by waiting for the connection of its parent. */
import type { Proc } from "../../actor/proc/proc.js";
import { formatId, type Location, type ProcId } from "../../link/address.js";
import { Deferred } from "../../link/deferred.js";
import type { LinkUse } from "../../link/handshake/message.js";
import { parseRelayedLocation } from "../../link/relayed-location.js";
import type { Pipe } from "../../link/transport/pipe.js";
import { connectToHost } from "../remote/host-connection.js";
import { type HostedLocation, parentLocation, parseHostedLocation } from "../remote/hosted-location.js";
import type { ProcServices } from "./proc-services.js";

/** Time limit in ms for a host to accept this process. After that the host is reached through the driver. */
const HOST_DIAL_LIMIT_MS = 3000;

export class ProcDialer {
  readonly #proc: Proc;
  readonly #services: ProcServices;
  readonly #parent: ProcId | undefined;
  /** Set while a message to the parent waits for the parent's connection. */
  #awaitedParentPipe: Deferred<Pipe> | undefined;

  constructor(proc: Proc, services: ProcServices, parent: ProcId | undefined) {
    this.#proc = proc;
    this.#services = services;
    this.#parent = parent;
  }

  /** Takes the link of a peer on another machine that has identified itself. */
  accept(pipe: Pipe, from: ProcId): void {
    const awaited = this.#awaitedParentPipe;
    if (from !== this.#parent) this.#proc.attach(pipe);
    else if (awaited === undefined) this.#proc.attach(pipe, from);
    else {
      this.#awaitedParentPipe = undefined;
      awaited.resolve(pipe);
    }
  }

  /** Connects to a peer. Rejects if the peer can only be reached through other procs. */
  async dial(location: Location, peer: ProcId): Promise<Pipe> {
    const { hostLocation, attachedHosts, hostKeyring, platform } = this.#services;
    const relayed = parseRelayedLocation(location);
    if (relayed !== undefined) return this.#proc.relayTo(peer, relayed.via, relayed.location);
    const target = parseHostedLocation(location);
    if (target?.agent === (hostLocation && parseHostedLocation(hostLocation)?.agent)) {
      return platform.dial(this.#services.socketLocationOf(peer, location));
    }
    if (target === undefined) {
      // The parent connects to this proc. Other peers may connect sooner, and their messages may cause reports to the
      // parent.
      if (peer === this.#parent) return this.#parentPipe();
      throw new Error(`process ${formatId(peer)} is on the machine of the driver`);
    }
    if (peer !== target.agent) {
      const direct = await this.dialDirectly(target, peer, "link");
      return direct ?? this.#proc.relayTo(peer, target.ancestors.at(-1) ?? target.agent, parentLocation(target));
    }
    const attached = attachedHosts.get(peer);
    if (attached !== undefined) return attached.connect(this.#proc);
    if (target.address.kind === "unix") throw new Error(`the socket of ${location} is on another machine`);
    return connectToHost(platform, this.#proc, { ...target, proof: hostKeyring.proofFor(peer) }, HOST_DIAL_LIMIT_MS);
  }

  /** Connects to a proc on a host, or returns undefined if it can only be reached through another proc. */
  async dialDirectly(
    { agent, address, ancestors }: HostedLocation,
    peer: ProcId,
    use: LinkUse,
  ): Promise<Pipe | undefined> {
    if (ancestors.length > 0) return undefined;
    const { directLinks, attachedHosts, hostKeyring } = this.#services;
    const attached = attachedHosts.get(agent);
    if (attached?.isRouted === true) return undefined;
    const proof = hostKeyring.proofFor(agent);
    return directLinks.connect(peer, this.#proc, { agent, address, proof, use, through: attached?.through });
  }

  /**
   * Waits for the link of the parent. A parent on the driver's machine connects to the processes that a host has
   * started for it; they cannot connect to the parent.
   */
  #parentPipe(): Promise<Pipe> {
    this.#awaitedParentPipe ??= new Deferred<Pipe>();
    return this.#awaitedParentPipe.promise;
  }
}
