/**
 * The routing table of a proc: which link leads to which peer. A peer is dialled on first use; one that cannot be dialled
 * is reached through the owner of the mesh, or through this proc's parent. What was sent meanwhile waits in the link, so
 * that order does not depend on how a peer is reached.
 */
import type { Location, ProcId } from "./address.js";
import { DeliveryError } from "./errors.js";
import type { LinkHost } from "./host.js";
import { Link } from "./link.js";
import { loopPipe } from "./local/pipe.js";
import type { Pipe } from "./pipe.js";
import type { Relays } from "./relay.js";

export type Dial = (location: Location, peer: ProcId) => Promise<Pipe>;

/** Who has made this proc. */
export interface Parent {
  readonly id: ProcId;
  /** It dials this proc, and cannot be dialled. */
  readonly connects: boolean;
}

/** Procs that are known to have ended: the oldest are forgotten, and then found out again. */
const REMEMBERED = 65_536;

export class Routes {
  readonly #host: LinkHost;
  readonly #dial: Dial;
  readonly #parent: ProcId | undefined;
  /** The parent, if it is the one who connects. */
  readonly #coming: ProcId | undefined;
  readonly #relays: Relays;
  readonly #made: (link: Link) => void;
  readonly #links = new Map<ProcId, Link>();
  /** Further links to a peer: two that dial each other at the same time have one each, and each uses its own. */
  readonly #spare = new Map<ProcId, Link[]>();
  readonly #down = new Map<ProcId, DeliveryError>();
  /** Procs whose last link has been lost, until it is known why. */
  readonly #lost = new Set<ProcId>();
  /** Of links that were dialled here. */
  #lastNumber = 0;
  /** The last link of each peer, of those that it has dialled, which is over here. */
  readonly #over = new Map<ProcId, number>();

  /** @param made told of each link that is made here */
  constructor(host: LinkHost, dial: Dial, parent: Parent | undefined, relays: Relays, made: (link: Link) => void) {
    this.#host = host;
    this.#dial = dial;
    this.#parent = parent?.id;
    this.#coming = parent?.connects === true ? parent.id : undefined;
    this.#relays = relays;
    this.#made = made;
  }

  /** The link that is used towards a peer, if there is one already. */
  existing(peer: ProcId): Link | undefined {
    return this.#links.get(peer);
  }

  /** Why a peer is known to be dead. */
  down(peer: ProcId): DeliveryError | undefined {
    return this.#down.get(peer);
  }

  /** Whether no message reaches a peer any more, as far as is known. */
  isGone(peer: ProcId): boolean {
    return this.#down.has(peer) || this.#lost.has(peer);
  }

  /** Whether the ends of some links have not been explained yet. */
  get losing(): boolean {
    return this.#lost.size > 0;
  }

  /** All links that are in use. */
  all(): Link[] {
    return [...this.#links.values()];
  }

  /** Returns the links to a peer: the one that is used, and further ones. */
  allTo(peer: ProcId): Link[] {
    const used = this.#links.get(peer);
    return used === undefined ? [] : [used, ...(this.#spare.get(peer) ?? [])];
  }

  /** A link to a peer, dialling it if need be; frames can be sent at once. @throws DeliveryError if it is dead */
  to(peer: ProcId, location: Location, owner: ProcId | undefined): Link {
    const known = this.#links.get(peer);
    if (known !== undefined) return known;
    const down = this.#down.get(peer);
    if (down !== undefined) throw down;
    const link = new Link(this.#host, peer, { number: ++this.#lastNumber, over: this.#over.get(peer) ?? 0 });
    this.#links.set(peer, link);
    this.#made(link);
    if (peer === this.#host.id) link.attach(loopPipe(this.#host.clock));
    else if (location === "" && peer !== this.#coming) this.#relay(link, peer, owner);
    else
      this.#dial(location, peer).then(
        (pipe) => link.attach(pipe),
        (error) => this.#relay(link, peer, owner, error),
      );
    return link;
  }

  /** A link that has come about otherwise. The first one to a peer is the one that is used, as long as it stands. */
  add(peer: ProcId, link: Link): void {
    this.#down.delete(peer);
    this.#lost.delete(peer);
    const used = this.#links.get(peer);
    const spare = this.#spare.get(peer) ?? [];
    if (used === undefined) this.#links.set(peer, link);
    else if (used !== link && !spare.includes(link)) this.#spare.set(peer, [...spare, link]);
  }

  /** @returns whether another link to the same peer is left, which is used from now on */
  remove(link: Link): boolean {
    const { peer } = link;
    if (peer === undefined) return true;
    if (!link.dialled && link.number > (this.#over.get(peer) ?? 0)) this.#noteOver(peer, link.number);
    const spare = (this.#spare.get(peer) ?? []).filter((other) => other !== link);
    if (this.#links.get(peer) === link) {
      const next = spare.shift();
      if (next === undefined) this.#links.delete(peer);
      else this.#links.set(peer, next);
    }
    if (spare.length === 0) this.#spare.delete(peer);
    else this.#spare.set(peer, spare);
    return this.#links.has(peer);
  }

  /**
   * Links that are over for a peer, which has dialled another one. It dials where it has no link, so those that it has dialled before are;
   * of those that were dialled here it says so, since two can dial each other at the same time. What is still on its way by them came
   * back to its senders: it must not come after what they have sent since.
   */
  replacedBy(link: Link, over: number): Link[] {
    if (link.dialled || link.number === 0 || this.#links.get(link.peer!) === link) return [];
    return this.allTo(link.peer!).filter((older) => {
      if (!older.introduced) return false;
      return older.dialled ? older.number <= over : older.number < link.number;
    });
  }

  /** The last link to a peer has been lost: `markDown` follows when it is known why. */
  markLost(peer: ProcId): void {
    this.#lost.add(peer);
  }

  /** Remembers that a peer is dead. */
  markDown(peer: ProcId, error: DeliveryError): void {
    this.#lost.delete(peer);
    this.#down.set(peer, error);
    if (this.#down.size > REMEMBERED) this.#down.delete(this.#down.keys().next().value!);
  }

  #noteOver(peer: ProcId, number: number): void {
    // The last to change stands last.
    this.#over.delete(peer);
    this.#over.set(peer, number);
    if (this.#over.size > REMEMBERED) this.#over.delete(this.#over.keys().next().value!);
  }

  /** @param failure why it could not be dialled: it may be known what the peer has ended of */
  #relay(link: Link, peer: ProcId, owner: ProcId | undefined, failure?: unknown): void {
    const via = this.#through(owner, peer) ?? this.#throughParent(peer);
    if (via !== undefined) {
      link.attach(this.#relays.dial(via, peer));
      return;
    }
    // A mesh has ended with its owner.
    const ended = failure instanceof DeliveryError ? failure : owner === undefined ? undefined : this.#down.get(owner);
    const why = ended ?? new DeliveryError("unknown", "its process cannot be reached");
    // Not at once: who asked for the link is about to send by it, and must hear that this came back.
    queueMicrotask(() => link.unreachable(why));
  }

  /** A parent that connects by itself may not have done so yet: what is for it, or goes through it, waits. */
  #throughParent(peer: ProcId): Link | undefined {
    const coming = this.#coming;
    if (coming === undefined || coming === peer || this.#down.has(coming)) return this.#through(this.#parent, peer);
    return this.to(coming, "", undefined);
  }

  #through(proc: ProcId | undefined, peer: ProcId): Link | undefined {
    if (proc === undefined || proc === peer || proc === this.#host.id) return undefined;
    return this.#links.get(proc);
  }
}
