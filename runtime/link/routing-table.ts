/**
 * The routing table of a proc: which link leads to which peer. A peer is dialled on first use; one that cannot be dialled
 * is reached through the owner of the mesh, or through this proc's parent. What was sent meanwhile waits in the link, so
 * that order does not depend on how a peer is reached.
 */
import type { Location, ProcId } from "./address.js";
import { DeliveryError } from "./errors.js";
import { Link } from "./link.js";
import type { LinkHost } from "./link-host.js";
import { loopbackPipe } from "./transport/in-process/pipe.js";
import type { Pipe } from "./transport/pipe.js";
import type { RelayRouter } from "./transport/relay/pipe.js";

export type DialProc = (location: Location, peer: ProcId) => Promise<Pipe>;

/** Who has made this proc. */
export interface ParentProc {
  readonly id: ProcId;
  /** It dials this proc, and cannot be dialled. */
  readonly connects: boolean;
}

/** Procs that are known to have ended: the oldest are forgotten, and then found out again. */
const MAX_REMEMBERED_PROCS = 65_536;

export class RoutingTable {
  readonly #host: LinkHost;
  readonly #dial: DialProc;
  readonly #parent: ProcId | undefined;
  /** The parent, if it is the one who connects. */
  readonly #connectingParent: ProcId | undefined;
  readonly #relays: RelayRouter;
  readonly #onLinkCreated: (link: Link) => void;
  readonly #links = new Map<ProcId, Link>();
  /** Further links to a peer: two that dial each other at the same time have one each, and each uses its own. */
  readonly #spareLinks = new Map<ProcId, Link[]>();
  readonly #deadProcs = new Map<ProcId, DeliveryError>();
  /** Procs whose last link has been lost, until it is known why. */
  readonly #lostProcs = new Set<ProcId>();
  /** Of links that were dialled here. */
  #lastNumber = 0;
  /** The last link of each peer, of those that it has dialled, which is over here. */
  readonly #lastEndedNumbers = new Map<ProcId, number>();

  /** @param made told of each link that is made here */
  constructor(
    host: LinkHost,
    dial: DialProc,
    parent: ParentProc | undefined,
    relays: RelayRouter,
    made: (link: Link) => void,
  ) {
    this.#host = host;
    this.#dial = dial;
    this.#parent = parent?.id;
    this.#connectingParent = parent?.connects === true ? parent.id : undefined;
    this.#relays = relays;
    this.#onLinkCreated = made;
  }

  /** The link that is used towards a peer, if there is one already. */
  existingLink(peer: ProcId): Link | undefined {
    return this.#links.get(peer);
  }

  /** Why a peer is known to be dead. */
  deathOf(peer: ProcId): DeliveryError | undefined {
    return this.#deadProcs.get(peer);
  }

  /** Whether no message reaches a peer any more, as far as is known. */
  isUnreachable(peer: ProcId): boolean {
    return this.#deadProcs.has(peer) || this.#lostProcs.has(peer);
  }

  /** Whether the ends of some links have not been explained yet. */
  get hasLostPeers(): boolean {
    return this.#lostProcs.size > 0;
  }

  /** All links that are in use. */
  allLinks(): Link[] {
    return [...this.#links.values()];
  }

  /** Returns the links to a peer: the one that is used, and further ones. */
  linksTo(peer: ProcId): Link[] {
    const used = this.#links.get(peer);
    return used === undefined ? [] : [used, ...(this.#spareLinks.get(peer) ?? [])];
  }

  /** A link to a peer, dialling it if need be; frames can be sent at once. @throws DeliveryError if it is dead */
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

  /** A link that has come about otherwise. The first one to a peer is the one that is used, as long as it stands. */
  addLink(peer: ProcId, link: Link): void {
    this.#deadProcs.delete(peer);
    this.#lostProcs.delete(peer);
    const used = this.#links.get(peer);
    const spare = this.#spareLinks.get(peer) ?? [];
    if (used === undefined) this.#links.set(peer, link);
    else if (used !== link && !spare.includes(link)) this.#spareLinks.set(peer, [...spare, link]);
  }

  /** @returns whether another link to the same peer is left, which is used from now on */
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
   * Links that are over for a peer, which has dialled another one. It dials where it has no link, so those that it has dialled before are;
   * of those that were dialled here it says so, since two can dial each other at the same time. What is still on its way by them came
   * back to its senders: it must not come after what they have sent since.
   */
  linksReplacedBy(link: Link, over: number): Link[] {
    if (link.isDialler || link.dialNumber === 0 || this.#links.get(link.peer!) === link) return [];
    return this.linksTo(link.peer!).filter((older) => {
      if (!older.isIntroduced) return false;
      return older.isDialler ? older.dialNumber <= over : older.dialNumber < link.dialNumber;
    });
  }

  /** The last link to a peer has been lost: `markDown` follows when it is known why. */
  markLost(peer: ProcId): void {
    this.#lostProcs.add(peer);
  }

  /** Remembers that a peer is dead. */
  markDead(peer: ProcId, error: DeliveryError): void {
    this.#lostProcs.delete(peer);
    this.#deadProcs.set(peer, error);
    if (this.#deadProcs.size > MAX_REMEMBERED_PROCS) this.#deadProcs.delete(this.#deadProcs.keys().next().value!);
  }

  #noteEnded(peer: ProcId, number: number): void {
    // The last to change stands last.
    this.#lastEndedNumbers.delete(peer);
    this.#lastEndedNumbers.set(peer, number);
    if (this.#lastEndedNumbers.size > MAX_REMEMBERED_PROCS)
      this.#lastEndedNumbers.delete(this.#lastEndedNumbers.keys().next().value!);
  }

  /** @param failure why it could not be dialled: it may be known what the peer has ended of */
  #connectThroughRelay(link: Link, peer: ProcId, owner: ProcId | undefined, failure?: unknown): void {
    const via = this.#existingLinkThrough(owner, peer) ?? this.#linkThroughParent(peer);
    if (via !== undefined) {
      link.attach(this.#relays.dial(via, peer));
      return;
    }
    // A mesh has ended with its owner.
    const ended =
      failure instanceof DeliveryError ? failure : owner === undefined ? undefined : this.#deadProcs.get(owner);
    const why = ended ?? new DeliveryError("unknown", "its process cannot be reached");
    // Not at once: who asked for the link is about to send by it, and must hear that this came back.
    queueMicrotask(() => link.failUnreachable(why));
  }

  /** A parent that connects by itself may not have done so yet: what is for it, or goes through it, waits. */
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
