/**
 * The routing table of a proc maps each peer to the link that leads to it. A peer is dialled on first use. A peer that
 * cannot be dialled is reached through the owner of the mesh, or through the parent of this proc. Messages that are
 * sent in the meantime wait in the link, so that their order does not depend on how the peer is reached.
 */
import type { Location, ProcId } from "./address.js";
import { DeliveryError } from "./errors.js";
import { Link } from "./link.js";
import type { LinkHost } from "./link-host.js";
import { loopbackPipe } from "./transport/in-process/pipe.js";
import type { Pipe } from "./transport/pipe.js";
import type { RelayRouter } from "./transport/relay/pipe.js";

export type DialProc = (location: Location, peer: ProcId) => Promise<Pipe>;

/** Returns where a proc of this machine listens, from its id alone. Empty: procs of this machine do not listen. */
export type LocateProc = (peer: ProcId) => Location;

/** The proc that has created this proc. */
export interface ParentProc {
  readonly id: ProcId;
  /** Whether the parent dials this proc and cannot be dialled itself. */
  readonly connects: boolean;
}

/** The number of ended procs that are remembered. The oldest are forgotten first, and their end is detected again when needed. */
const MAX_REMEMBERED_PROCS = 65_536;

export class RoutingTable {
  readonly #host: LinkHost<Link>;
  readonly #dial: DialProc;
  readonly #parent: ProcId | undefined;
  /** The parent, if the parent dials this proc. */
  readonly #connectingParent: ProcId | undefined;
  readonly #relays: RelayRouter;
  readonly #locate: LocateProc;
  readonly #onLinkCreated: (link: Link) => void;
  readonly #links = new Map<ProcId, Link>();
  /**
   * Further links to a peer. Two procs that dial each other at the same time have two links, and each sends on the one
   * that it has dialled.
   */
  readonly #spareLinks = new Map<ProcId, Link[]>();
  readonly #deadProcs = new Map<ProcId, DeliveryError>();
  /** Procs whose last link has been lost for a reason that is not known yet, and the new links to them, which end when it is. */
  readonly #lostProcs = new Map<ProcId, Link[]>();
  /** The number of the last link that was dialled here. */
  #lastNumber = 0;
  /** For each peer, the number of the last link that the peer has dialled and that has ended on this side. */
  readonly #lastEndedNumbers = new Map<ProcId, number>();

  /** @param made called with each link that is dialled here */
  constructor(
    host: LinkHost<Link>,
    dial: DialProc,
    parent: ParentProc | undefined,
    relays: RelayRouter,
    locate: LocateProc,
    made: (link: Link) => void,
  ) {
    this.#host = host;
    this.#dial = dial;
    this.#parent = parent?.id;
    this.#connectingParent = parent?.connects === true ? parent.id : undefined;
    this.#relays = relays;
    this.#locate = locate;
    this.#onLinkCreated = made;
  }

  /** Returns the link to a peer, if there is one already. */
  existingLink(peer: ProcId): Link | undefined {
    return this.#links.get(peer);
  }

  /** Returns the error with which a peer has ended, or undefined if the peer is not known to have ended. */
  deathOf(peer: ProcId): DeliveryError | undefined {
    return this.#deadProcs.get(peer);
  }

  /** Returns whether a peer is known to be dead or has lost its last link. */
  isUnreachable(peer: ProcId): boolean {
    return this.#deadProcs.has(peer) || this.#lostProcs.has(peer);
  }

  /** Whether a peer has lost its last link for a reason that is not known yet. */
  get hasLostPeers(): boolean {
    return this.#lostProcs.size > 0;
  }

  /** Returns the link of each peer to which messages are sent. */
  allLinks(): Link[] {
    return [...this.#links.values()];
  }

  /** Returns all links to a peer. The first one is used for sending. */
  linksTo(peer: ProcId): Link[] {
    const used = this.#links.get(peer);
    return used === undefined ? [] : [used, ...(this.#spareLinks.get(peer) ?? [])];
  }

  /**
   * Returns the link to a peer, and dials the peer if there is none. Frames can be sent at once.
   * @throws DeliveryError if the peer is known to be dead
   */
  linkTo(peer: ProcId, location: Location, owner: ProcId | undefined): Link {
    const known = this.#links.get(peer);
    if (known !== undefined) return known;
    const down = this.#deadProcs.get(peer);
    if (down !== undefined) throw down;
    const link = new Link(this.#host, peer, {
      number: ++this.#lastNumber,
      over: this.#lastEndedNumbers.get(peer) ?? 0,
    });
    this.#links.set(peer, link);
    this.#onLinkCreated(link);
    if (peer === this.#host.id) link.attach(loopbackPipe(this.#host.clock));
    else if (location === "" && peer !== this.#connectingParent) this.#connectThroughRelay(link, peer, owner);
    else
      this.#dial(location, peer).then(
        (pipe) => link.attach(pipe),
        (error) => this.#connectThroughRelay(link, peer, owner, error),
      );
    return link;
  }

  /**
   * Returns a link for frames that this proc relays to a peer without a link: the link to the parent, or, in the proc
   * without a parent, a link to the peer if it is on the same machine.
   * @param from the proc from which the frames come, to which they are not sent back
   */
  relayRoute(peer: ProcId, from: ProcId | undefined): Link | undefined {
    if (this.#deadProcs.has(peer)) return undefined;
    if (this.#parent !== undefined) return from === this.#parent ? undefined : this.#linkThroughParent(peer);
    const location = this.#locate(peer);
    return location === "" ? undefined : this.linkTo(peer, location, undefined);
  }

  /** Adds a link that the peer has dialled. The first link to a peer is used for sending as long as it exists. */
  addLink(peer: ProcId, link: Link): void {
    this.#deadProcs.delete(peer);
    this.#found(peer, unreachable());
    const used = this.#links.get(peer);
    const spare = this.#spareLinks.get(peer) ?? [];
    if (used === undefined) this.#links.set(peer, link);
    else if (used !== link && !spare.includes(link)) this.#spareLinks.set(peer, [...spare, link]);
  }

  /**
   * Removes a link that has ended.
   * @returns whether another link to the same peer is left, which is used for sending from now on
   */
  removeLink(link: Link): boolean {
    const { peer } = link;
    if (peer === undefined) return true;
    if (!link.isDialler && link.dialNumber > (this.#lastEndedNumbers.get(peer) ?? 0))
      this.#noteEnded(peer, link.dialNumber);
    const spare = (this.#spareLinks.get(peer) ?? []).filter((other) => other !== link);
    if (this.#links.get(peer) === link) {
      const next = spare.shift();
      if (next === undefined) this.#links.delete(peer);
      else this.#links.set(peer, next);
    }
    if (spare.length === 0) this.#spareLinks.delete(peer);
    else this.#spareLinks.set(peer, spare);
    return this.#links.has(peer);
  }

  /**
   * Returns the older links to a peer that have ended on the peer's side, given that the peer has dialled another link.
   * A peer dials only when it has no link, so the links that it has dialled before have ended. For links that were
   * dialled here, the peer sends the number of the last one that has ended, because two procs can dial each other at
   * the same time. Messages that are still in transit on these links were returned to their senders as undeliverable,
   * and must not be handled after later messages of the same senders.
   * @param over the number of the last link that was dialled here and has ended on the peer's side
   */
  linksReplacedBy(link: Link, over: number): Link[] {
    if (link.isDialler || link.dialNumber === 0 || this.#links.get(link.peer!) === link) return [];
    return this.linksTo(link.peer!).filter((older) => {
      if (!older.isIntroduced) return false;
      return older.isDialler ? older.dialNumber <= over : older.dialNumber < link.dialNumber;
    });
  }

  /** Notes that the last link to a peer has been lost. `markDead` follows when the reason is known. */
  markLost(peer: ProcId): void {
    if (!this.#lostProcs.has(peer)) this.#lostProcs.set(peer, []);
  }

  /** Remembers that a peer is dead. */
  markDead(peer: ProcId, error: DeliveryError): void {
    this.#deadProcs.set(peer, error);
    this.#found(peer, error);
    if (this.#deadProcs.size > MAX_REMEMBERED_PROCS) this.#deadProcs.delete(this.#deadProcs.keys().next().value!);
  }

  #noteEnded(peer: ProcId, number: number): void {
    // The map keeps the order in which entries have changed.
    this.#lastEndedNumbers.delete(peer);
    this.#lastEndedNumbers.set(peer, number);
    if (this.#lastEndedNumbers.size > MAX_REMEMBERED_PROCS)
      this.#lastEndedNumbers.delete(this.#lastEndedNumbers.keys().next().value!);
  }

  /**
   * Connects a link to a peer through another proc.
   * @param failure the error with which dialling the peer has failed, if it was tried
   */
  #connectThroughRelay(link: Link, peer: ProcId, owner: ProcId | undefined, failure?: unknown): void {
    const via = this.#existingLinkThrough(owner, peer) ?? this.#linkThroughParent(peer);
    if (via !== undefined) {
      link.attach(this.#relays.dial(via, peer));
      return;
    }
    // A mesh ends with its owner.
    const ended =
      failure instanceof DeliveryError ? failure : owner === undefined ? undefined : this.#deadProcs.get(owner);
    // The reason of the end of a lost peer is about to be known.
    const waiting = ended === undefined ? this.#lostProcs.get(peer) : undefined;
    if (waiting === undefined) failLater(link, ended ?? unreachable());
    else waiting.push(link);
  }

  /** The reason of the end of a lost peer is known, or it has come back. */
  #found(peer: ProcId, why: DeliveryError): void {
    for (const link of this.#lostProcs.get(peer) ?? []) failLater(link, why);
    this.#lostProcs.delete(peer);
  }

  /**
   * Returns the link through the parent. A parent that dials this proc may not have done so yet; messages then wait in
   * a link to it.
   */
  #linkThroughParent(peer: ProcId): Link | undefined {
    const coming = this.#connectingParent;
    if (coming === undefined || coming === peer || this.#deadProcs.has(coming))
      return this.#existingLinkThrough(this.#parent, peer);
    return this.linkTo(coming, "", undefined);
  }

  #existingLinkThrough(proc: ProcId | undefined, peer: ProcId): Link | undefined {
    if (proc === undefined || proc === peer || proc === this.#host.id) return undefined;
    return this.#links.get(proc);
  }
}

function unreachable(): DeliveryError {
  return new DeliveryError("unknown", "its process cannot be reached");
}

/** The caller is about to send on the link, and its messages must be returned to it. */
function failLater(link: Link, why: DeliveryError): void {
  queueMicrotask(() => link.failUnreachable(why));
}
