/**
 * The acceptor's side of resumable links. It accepts connections, and joins each with the link that the connection
 * continues or with a new link. Its user decides which links are admitted.
 */

import { formatId } from "../address.js";
import { HandshakeAcceptor, type HandshakeAcceptorOptions, type HandshakeVerdict } from "../handshake/accept.js";
import { defaultHandshakeLimits } from "../handshake/limits.js";
import type { LinkOffer } from "../handshake/message.js";
import type { Pipe } from "../transport/pipe.js";
import { formatIdentity, type PeerIdentity } from "../transport/tls/identity.js";
import { type ResumableLimits, resumableLimits } from "./limits.js";
import { ResumablePipe } from "./pipe.js";

/**
 * The decision on a dialler: it gets a link, is sent to another port of this host, or is refused. `giveUpMs` is the
 * time that the link may be without a connection, if it differs from the limits.
 */
export type Admission =
  | { readonly kind: "open"; readonly giveUpMs?: number; open(pipe: Pipe): void }
  | Exclude<HandshakeVerdict, { kind: "open" }>;

/** The longest time for which a dialler can have its link kept without a connection, in milliseconds. */
const MAX_GIVE_UP_MS = 600_000;

type OpenAdmission = Extract<Admission, { kind: "open" }>;

interface ResumableLink {
  readonly pipe: ResumablePipe;
  /** The function that gets the pipe. It is undefined after it has been called, when the dialler has confirmed the link. */
  open: OpenAdmission["open"] | undefined;
}

export interface ResumableAcceptorOptions extends Omit<HandshakeAcceptorOptions, "decide"> {
  readonly resumable?: Partial<ResumableLimits>;
  /**
   * Decides on new links, after the dialler has proved the token. `open` gets a pipe that outlives its connections.
   * @param identity the identity of the dialler in the job of this process, if both have one
   * @param peer the address of the dialler, if it has one
   */
  admit(offer: LinkOffer, identity: PeerIdentity | undefined, peer: string | undefined): Admission | Promise<Admission>;
}

export class ResumableAcceptor {
  readonly #options: ResumableAcceptorOptions;
  readonly #limits: ResumableLimits;
  readonly #maxLinks: number;
  readonly #acceptor: HandshakeAcceptor;
  readonly #links = new Map<string, ResumableLink>();

  /**
   * Creates an acceptor.
   * @throws RangeError if a limit is invalid
   */
  constructor(options: ResumableAcceptorOptions) {
    this.#options = options;
    this.#limits = resumableLimits(options.resumable);
    const { clock, random, token, limits = {}, onRefused = () => {} } = options;
    this.#maxLinks = limits.connections ?? defaultHandshakeLimits.connections;
    this.#acceptor = new HandshakeAcceptor({
      clock,
      random,
      token,
      limits,
      onRefused,
      decide: (offer, identity, peer) => this.#decide(offer, identity, peer),
    });
  }

  /** The number of links, including those that wait for another connection. */
  get linkCount(): number {
    return this.#links.size;
  }

  get connectionCount(): number {
    return this.#acceptor.connectionCount;
  }

  /**
   * Starts the handshake on a new connection.
   * @param peer the address of the peer, if it has one
   * @param identity the identity of the peer in the job of this process, if both have one
   */
  accept(pipe: Pipe, peer?: string, identity?: PeerIdentity): void {
    this.#acceptor.accept(pipe, peer, identity);
  }

  /** Accepts no more connections. Links continue, but a link that loses its connection cannot be resumed. */
  close(): void {
    this.#acceptor.close();
  }

  async #decide(
    offer: LinkOffer,
    identity: PeerIdentity | undefined,
    peer: string | undefined,
  ): Promise<HandshakeVerdict> {
    if (offer.use === "tunnel") {
      // A tunnel ends with its connection.
      const admission = await this.#options.admit(offer, identity, peer);
      return admission.kind === "open" ? { kind: "open", received: 0, open: admission.open } : admission;
    }
    const key = linkKey(offer, identity);
    if (!this.#links.has(key)) {
      if (this.#links.size >= this.#maxLinks) {
        return { kind: "refuse", reason: "busy", text: `this process has ${this.#maxLinks} links and takes no more` };
      }
      const admission = await this.#options.admit(offer, identity, peer);
      if (admission.kind !== "open") return admission;
      if (!offer.first && !this.#links.has(key)) {
        return { kind: "refuse", reason: "gone", text: "there is no such link, or not any more" };
      }
      // If two requests for the same link overlap, the second one continues the link of the first.
      if (!this.#links.has(key)) this.#createLink(key, offer, admission);
    }
    const link = this.#links.get(key)!;
    const { pipe } = link;
    if (!pipe.canResume(offer.received)) {
      const text = `the dialler says that it has ${offer.received} bytes of the link, which cannot be`;
      return { kind: "refuse", reason: "offset", text };
    }
    // This side may not have noticed yet that the previous connection has ended. Bytes that it still brings would come
    // twice.
    pipe.suspend();
    const received = pipe.bytesReceived;
    return {
      kind: "open",
      received,
      open: (connection) => {
        // Another connection may have been faster. Then the number of bytes that the dialler was told is outdated.
        if (pipe.bytesReceived !== received || !pipe.canResume(offer.received)) connection.destroy();
        else {
          pipe.resume(connection, offer.received);
          this.#handOver(link);
        }
      },
    };
  }

  #createLink(key: string, { from, giveUpMs: asked = 0 }: LinkOffer, { giveUpMs, open }: OpenAdmission): void {
    const pipe = new ResumablePipe({
      clock: this.#options.clock,
      limits: {
        ...this.#limits,
        giveUpMs: giveUpMs ?? Math.max(this.#limits.giveUpMs, Math.min(asked, MAX_GIVE_UP_MS)),
      },
      peer: `process ${formatId(from)}`,
      connectionLost: () => {},
      pipeEnded: () => this.#links.delete(key),
    });
    this.#links.set(key, { pipe, open });
  }

  #handOver(link: ResumableLink): void {
    const { pipe, open } = link;
    link.open = undefined;
    if (!pipe.hasEnded) open?.(pipe);
  }
}

/** A connection of a process with another identity, or another key, cannot continue the link, even if it knows the id of the link. */
function linkKey({ universe, from, to, link }: LinkOffer, identity: PeerIdentity | undefined): string {
  return `${universe}/${from}/${to}/${link}/${identity === undefined ? "" : `${formatIdentity(identity)} ${identity.key}`}`;
}
