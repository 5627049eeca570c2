/**
 * The acceptor's side of lasting links: takes connections, and brings each together with the link that it continues, or
 * with a new one. Which links there may be is decided by whoever listens.
 */

import { hex64 } from "../address.js";
import { Acceptor, type AcceptorOptions, type Verdict } from "../handshake/accept.js";
import { defaultHandshakeLimits } from "../handshake/limits.js";
import type { Offer } from "../handshake/message.js";
import type { Pipe } from "../pipe.js";
import { type LastingLimits, lastingLimits } from "./limits.js";
import { LastingPipe } from "./pipe.js";

/**
 * What becomes of somebody who wants a link: it gets one, is sent to another port of this host, or is refused. A link may be
 * without a connection for `giveUpMs`, where that is said.
 */
export type Admission =
  | { readonly kind: "open"; readonly giveUpMs?: number; open(pipe: Pipe): void }
  | Exclude<Verdict, { kind: "open" }>;

type Opening = Extract<Admission, { kind: "open" }>;

interface AcceptedLink {
  readonly pipe: LastingPipe;
  /** Who gets it, as long as the dialler has not shown that it knows of the link: it is nobody's until then. */
  open: Opening["open"] | undefined;
}

export interface LastingAcceptorOptions extends Omit<AcceptorOptions, "decide"> {
  readonly lasting?: Partial<LastingLimits>;
  /** Asked for links that are not here, when the dialler has proved the token. `open` gets a pipe that outlives connections. */
  admit(offer: Offer): Admission | Promise<Admission>;
}

export class LastingAcceptor {
  readonly #options: LastingAcceptorOptions;
  readonly #limits: LastingLimits;
  readonly #mostLinks: number;
  readonly #acceptor: Acceptor;
  readonly #links = new Map<string, AcceptedLink>();

  /** @throws RangeError for limits */
  constructor(options: LastingAcceptorOptions) {
    this.#options = options;
    this.#limits = lastingLimits(options.lasting);
    const { clock, random, token, limits = {}, refused = () => {} } = options;
    this.#mostLinks = limits.connections ?? defaultHandshakeLimits.connections;
    this.#acceptor = new Acceptor({
      clock,
      random,
      token,
      limits,
      refused,
      decide: (offer) => this.#decide(offer),
    });
  }

  /** Links that stand, those that wait for another connection included. */
  get links(): number {
    return this.#links.size;
  }

  get connections(): number {
    return this.#acceptor.connections;
  }

  /** Begins the handshake on a connection that somebody has made. @param peer its address, where it has one */
  accept(pipe: Pipe, peer?: string): void {
    this.#acceptor.accept(pipe, peer);
  }

  /** Takes no more connections. Links go on; one that loses its connection cannot be restored. */
  close(): void {
    this.#acceptor.close();
  }

  async #decide(offer: Offer): Promise<Verdict> {
    const key = keyOf(offer);
    if (!this.#links.has(key)) {
      if (this.#links.size >= this.#mostLinks) {
        return { kind: "refuse", reason: "busy", text: `this process has ${this.#mostLinks} links and takes no more` };
      }
      const admission = await this.#options.admit(offer);
      if (admission.kind !== "open") return admission;
      if (!offer.first && !this.#links.has(key)) {
        return { kind: "refuse", reason: "gone", text: "there is no such link, or not any more" };
      }
      // Asked twice at the same time: the second one continues the link of the first.
      if (!this.#links.has(key)) this.#make(key, offer, admission);
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
          this.#announce(link);
        }
      },
    };
  }

  #make(key: string, { from }: Offer, { giveUpMs = this.#limits.giveUpMs, open }: Opening): void {
    const pipe = new LastingPipe({
      clock: this.#options.clock,
      limits: { ...this.#limits, giveUpMs },
      peer: `process ${hex64(from)}`,
      lost: () => {},
      over: () => this.#links.delete(key),
    });
    this.#links.set(key, { pipe, open });
  }

  #announce(link: AcceptedLink): void {
    const { pipe, open } = link;
    link.open = undefined;
    if (!pipe.ended) open?.(pipe);
  }
}

function keyOf({ universe, from, to, link }: Offer): string {
  return `${universe}/${from}/${to}/${link}`;
}
