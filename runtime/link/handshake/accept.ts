/**
 * The acceptor's side of the handshake, and what bounds strangers: until a connection has proved the token, it costs one
 * small record and one timer, and nothing that it sends reaches anything but this.
 */
import type { Clock, Random } from "../clock.js";
import { PROTOCOL_VERSION } from "../frame.js";
import type { Pipe } from "../pipe.js";
import { HandshakeError } from "./errors.js";
import { Exchange } from "./exchange.js";
import { defaultHandshakeLimits, type HandshakeLimits } from "./limits.js";
import {
  type Answer,
  checkTaken,
  type Offer,
  PROOF_BYTES,
  proofOf,
  REQUEST_BYTES,
  type Request,
  readRequest,
  TAKEN_BYTES,
  writeAnswer,
  writeChallenge,
} from "./message.js";
import { nonce, proofBy, proves } from "./proof.js";

/** What becomes of an offer. `open` gets the pipe once the dialler has shown that it knows of it, and may never be called. */
export type Verdict =
  | { readonly kind: "open"; readonly received: number; open(pipe: Pipe): void }
  | { readonly kind: "redirect"; readonly port: number }
  | Extract<Answer, { kind: "refuse" }>;

export interface AcceptorOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** What diallers must have as well; undefined: whoever connects is trusted. */
  readonly token?: string | undefined;
  readonly limits?: Partial<HandshakeLimits>;
  /** Asked once a dialler has proved the token. When it throws or rejects, the connection ends without an answer. */
  decide(offer: Offer): Verdict | Promise<Verdict>;
  /** Told why a connection was not let in. @param peer its address, where it has one */
  refused?(error: Error, peer?: string): void;
}

export class Acceptor {
  readonly #options: AcceptorOptions;
  readonly #limits: HandshakeLimits;
  readonly #halfOpen = new Set<Exchange>();
  #connections = 0;
  #closed = false;

  constructor(options: AcceptorOptions) {
    this.#options = options;
    this.#limits = { ...defaultHandshakeLimits, ...options.limits };
  }

  /** Connections that stand, those in their handshake included. */
  get connections(): number {
    return this.#connections;
  }

  /** Connections in their handshake. */
  get halfOpen(): number {
    return this.#halfOpen.size;
  }

  /** Begins the handshake on a connection that somebody has made. @param peer its address, where it has one */
  accept(pipe: Pipe, peer?: string): void {
    if (this.#closed) {
      pipe.destroy();
      return;
    }
    this.#connections++;
    const { clock } = this.#options;
    const exchange = new Exchange(pipe, clock, this.#limits.handshakeMs, () => {
      this.#connections--;
      this.#halfOpen.delete(exchange);
    });
    this.#halfOpen.add(exchange);
    const [oldest] = this.#halfOpen;
    if (oldest !== undefined && this.#halfOpen.size > this.#limits.halfOpen) {
      // At once: its end is told later, and until then the next ones would drop the same one again.
      this.#halfOpen.delete(oldest);
      oldest.destroy(new HandshakeError("busy", "there are too many connections that do not complete their handshake"));
    }
    this.#handshake(exchange, peer).catch((error: Error) => {
      // The challenge may still have to leave: it tells another version why.
      exchange.close();
      this.#options.refused?.(error, peer);
    });
  }

  /** Ends all connections that are in their handshake, and takes no more. */
  close(): void {
    this.#closed = true;
    for (const exchange of [...this.#halfOpen]) exchange.destroy();
  }

  async #handshake(exchange: Exchange, peer: string | undefined): Promise<void> {
    const { random, token } = this.#options;
    const asked = await exchange.read(REQUEST_BYTES);
    const challenge = writeChallenge({ token: token !== undefined }, nonce(random));
    exchange.send(challenge);
    const request = readRequest(asked);
    const proof = await exchange.read(PROOF_BYTES);
    const said = [asked, challenge];
    if (!proves(proof, proofBy("dialler", token, said))) {
      const text = "the token is not that of this process; give the same to both";
      // Without a proof of ours: it would be something to try tokens against.
      exchange.send(writeAnswer({ kind: "refuse", reason: "token", text }));
      exchange.close();
      this.#options.refused?.(new HandshakeError("token", text), peer);
      return;
    }
    exchange.checkQuiet();
    const verdict = await this.#verdictOn(request);
    exchange.checkQuiet();
    const answer = writeAnswer(verdict);
    proofOf(answer).set(proofBy("acceptor", token, [...said, answer]));
    if (verdict.kind === "refuse") {
      exchange.send(answer);
      exchange.close();
      this.#options.refused?.(new HandshakeError(verdict.reason, verdict.text), peer);
      return;
    }
    exchange.send(answer);
    if (verdict.kind === "redirect") {
      this.#halfOpen.delete(exchange);
      exchange.close();
      return;
    }
    // A dialler whose connection is cut before it has the answer knows of no link, and will not come back for it.
    checkTaken(await exchange.read(TAKEN_BYTES, true));
    this.#halfOpen.delete(exchange);
    verdict.open(exchange.settle());
  }

  #verdictOn(request: Request): Verdict | Promise<Verdict> {
    const { protocol } = request;
    if (protocol !== PROTOCOL_VERSION) {
      const text =
        `this process speaks version ${PROTOCOL_VERSION} of the protocol, the dialler ${protocol}; ` +
        "install the same version of viceroy on both sides";
      return { kind: "refuse", reason: "version", text };
    }
    const { connections } = this.#limits;
    if (this.#connections > connections) {
      return { kind: "refuse", reason: "busy", text: `this process has ${connections} connections and takes no more` };
    }
    return this.#options.decide(request);
  }
}
