/**
 * The acceptor's side of lasting links: takes connections, and brings each together with the link that it continues, or
 * with a new one. Which links there may be is decided by whoever listens.
 */

import { formatId } from "../address.js";
import { HandshakeAcceptor, type HandshakeAcceptorOptions, type HandshakeVerdict } from "../handshake/accept.js";
import { defaultHandshakeLimits } from "../handshake/limits.js";
import type { LinkOffer } from "../handshake/message.js";
import type { Pipe } from "../transport/pipe.js";
import { type ResumableLimits, resumableLimits } from "./limits.js";
import { ResumablePipe } from "./pipe.js";

/**
 * What becomes of somebody who wants a link: it gets one, is sent to another port of this host, or is refused. A link may be
 * without a connection for `giveUpMs`, where that is said.
 */
export type Admission =
  | { readonly kind: "open"; readonly giveUpMs?: number; open(pipe: Pipe): void }
  | Exclude<HandshakeVerdict, { kind: "open" }>;

type OpenAdmission = Extract<Admission, { kind: "open" }>;

interface ResumableLink {
  readonly pipe: ResumablePipe;
  /** Who gets it, as long as the dialler has not shown that it knows of the link: it is nobody's until then. */
  open: OpenAdmission["open"] | undefined;
}

export interface ResumableAcceptorOptions extends Omit<HandshakeAcceptorOptions, "decide"> {
  readonly resumable?: Partial<ResumableLimits>;
  /** Asked for links that are not here, when the dialler has proved the token. `open` gets a pipe that outlives connections. */
  admit(offer: LinkOffer): Admission | Promise<Admission>;
}

export class ResumableAcceptor {
  readonly #options: ResumableAcceptorOptions;
  readonly #limits: ResumableLimits;
  readonly #maxLinks: number;
  readonly #acceptor: HandshakeAcceptor;
  readonly #links = new Map<string, ResumableLink>();

  /** @throws RangeError for limits */
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
      decide: (offer) => this.#decide(offer),
    });
  }

  /** Links that stand, those that wait for another connection included. */
  get linkCount(): number {
    return this.#links.size;
  }

  get connectionCount(): number {
    return this.#acceptor.connectionCount;
  }

  /** Begins the handshake on a connection that somebody has made. @param peer its address, where it has one */
  accept(pipe: Pipe, peer?: string): void {
    this.#acceptor.accept(pipe, peer);
  }

  /** Takes no more connections. Links go on; one that loses its connection cannot be restored. */
  close(): void {
    this.#acceptor.close();
  }

  async #decide(offer: LinkOffer): Promise<HandshakeVerdict> {
    const key = linkKey(offer);
    if (!this.#links.has(key)) {
      if (this.#links.size >= this.#maxLinks) {
        return { kind: "refuse", reason: "busy", text: `this process has ${this.#maxLinks} links and takes no more` };
      }
      const admission = await this.#options.admit(offer);
      if (admission.kind !== "open") return admission;
      if (!offer.first && !this.#links.has(key)) {
        return { kind: "refuse", reason: "gone", text: "there is no such link, or not any more" };
      }
      // Asked twice at the same time: the second one continues the link of the first.
      if (!this.#links.has(key)) this.#createLink(key, offer, admission);
    }
    const link = this.#links.get(key)!;
    const { pipe } = link;
    if (!pipe.canResume(offer.received)) {
      const text = `the dialler says that it has ${offer.received} bytes of the link, which cannot be`;
      return { kind: "refuse", reason: "offset", text };
    }
    // The connection before may not have ended for this side yet; what it brings from now on would come twice.
    pipe.suspend();
    const received = pipe.bytesReceived;
    return {
      kind: "open",
      received,
      open: (connection) => {
        // Another connection may have got ahead of this one: then what the dialler was told is not true any more.
        if (pipe.bytesReceived !== received || !pipe.canResume(offer.received)) connection.destroy();
        else {
          pipe.resume(connection, offer.received);
          this.#handOver(link);
        }
      },
    };
  }

  #createLink(key: string, { from }: LinkOffer, { giveUpMs = this.#limits.giveUpMs, open }: OpenAdmission): void {
    const pipe = new ResumablePipe({
      clock: this.#options.clock,
      limits: { ...this.#limits, giveUpMs },
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

function linkKey({ universe, from, to, link }: LinkOffer): string {
  return `${universe}/${from}/${to}/${link}`;
}
