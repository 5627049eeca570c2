/**
 * The acceptor's side of the handshake, with the limits on unauthenticated peers. Until a connection has proved the
 * token, it costs one small record and one timer, and its bytes reach no other code.
 */
import type { Clock, Random } from "../clock.js";
import { PROTOCOL_VERSION } from "../frame/frame.js";
import type { Pipe } from "../transport/pipe.js";
import type { PeerIdentity } from "../transport/tls/identity.js";
import { HandshakeError } from "./errors.js";
import { HandshakeExchange } from "./exchange.js";
import { defaultHandshakeLimits, type HandshakeLimits } from "./limits.js";
import {
  CONFIRMATION_BYTES,
  checkConfirmation,
  type HandshakeAnswer,
  type HandshakeRequest,
  type LinkOffer,
  PROOF_BYTES,
  proofField,
  REQUEST_BYTES,
  readRequest,
  writeAnswer,
  writeChallenge,
} from "./message.js";
import { computeProof, createNonce, isSameProof } from "./proof.js";

/**
 * The decision on an offer. `open` is called with the pipe after the dialler has confirmed the answer; it may never be
 * called.
 */
export type HandshakeVerdict =
  | { readonly kind: "open"; readonly received: number; open(pipe: Pipe): void }
  | { readonly kind: "redirect"; readonly port: number }
  | Extract<HandshakeAnswer, { kind: "refuse" }>;

export interface HandshakeAcceptorOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** The token that diallers must prove. Without one, every dialler is trusted. */
  readonly token?: string | undefined;
  readonly limits?: Partial<HandshakeLimits>;
  /**
   * Decides on an offer after the dialler has proved the token. If this throws or rejects, the connection is closed
   * without an answer.
   * @param identity the identity of the dialler in the job of this process, if both have one
   * @param peer the address of the dialler, if it has one
   */
  decide(
    offer: LinkOffer,
    identity: PeerIdentity | undefined,
    peer: string | undefined,
  ): HandshakeVerdict | Promise<HandshakeVerdict>;
  /**
   * Called with the reason why a connection was refused.
   * @param peer the address of the peer, if it has one
   */
  onRefused?(error: Error, peer?: string): void;
}

export class HandshakeAcceptor {
  readonly #options: HandshakeAcceptorOptions;
  readonly #limits: HandshakeLimits;
  readonly #halfOpen = new Set<HandshakeExchange>();
  #connections = 0;
  #closed = false;

  constructor(options: HandshakeAcceptorOptions) {
    this.#options = options;
    this.#limits = { ...defaultHandshakeLimits, ...options.limits };
  }

  /** The number of open connections, including those in their handshake. */
  get connectionCount(): number {
    return this.#connections;
  }

  /** The number of connections in their handshake. */
  get halfOpenCount(): number {
    return this.#halfOpen.size;
  }

  /**
   * Starts the handshake on a new connection.
   * @param peer the address of the peer, if it has one
   * @param identity the identity of the peer in the job of this process, if both have one
   */
  accept(pipe: Pipe, peer?: string, identity?: PeerIdentity): void {
    if (this.#closed) {
      pipe.destroy();
      return;
    }
    this.#connections++;
    const { clock } = this.#options;
    const exchange = new HandshakeExchange(pipe, clock, this.#limits.handshakeMs, () => {
      this.#connections--;
      this.#halfOpen.delete(exchange);
    });
    this.#halfOpen.add(exchange);
    const [oldest] = this.#halfOpen;
    if (oldest !== undefined && this.#halfOpen.size > this.#limits.halfOpen) {
      // The entry is removed at once. The end of the connection is reported later, and until then the next connections
      // would drop the same entry again.
      this.#halfOpen.delete(oldest);
      oldest.destroy(new HandshakeError("busy", "there are too many connections that do not complete their handshake"));
    }
    this.#handshake(exchange, peer, identity).catch((error: Error) => {
      // The challenge may still have to be sent: it tells a peer of another version why it was refused.
      exchange.close();
      // A peer that leaves was not refused. Driver gateways find out so whether a host listens.
      if (!exchange.wasLeft) this.#options.onRefused?.(error, peer);
    });
  }

  /** Closes all connections in their handshake, and accepts no more. */
  close(): void {
    this.#closed = true;
    for (const exchange of [...this.#halfOpen]) exchange.destroy();
  }

  async #handshake(
    exchange: HandshakeExchange,
    peer: string | undefined,
    identity: PeerIdentity | undefined,
  ): Promise<void> {
    const { random, token } = this.#options;
    const asked = await exchange.read(REQUEST_BYTES);
    const challenge = writeChallenge({ token: token !== undefined }, createNonce(random));
    exchange.send(challenge);
    const request = readRequest(asked);
    const proof = await exchange.read(PROOF_BYTES);
    const said = [asked, challenge];
    if (!isSameProof(proof, computeProof("dialler", token, said))) {
      const text = "the token is not that of this process; give the same to both";
      // The answer carries no proof of the acceptor, because a peer could test tokens against a proof.
      exchange.send(writeAnswer({ kind: "refuse", reason: "token", text }));
      exchange.close();
      this.#options.onRefused?.(new HandshakeError("token", text), peer);
      return;
    }
    exchange.checkNothingUnread();
    const verdict = await this.#decide(request, identity, peer);
    exchange.checkNothingUnread();
    const answer = writeAnswer(verdict);
    proofField(answer).set(computeProof("acceptor", token, [...said, answer]));
    if (verdict.kind === "refuse") {
      exchange.send(answer);
      exchange.close();
      this.#options.onRefused?.(new HandshakeError(verdict.reason, verdict.text), peer);
      return;
    }
    exchange.send(answer);
    if (verdict.kind === "redirect") {
      this.#halfOpen.delete(exchange);
      exchange.close();
      return;
    }
    // A dialler that loses its connection before it has the answer does not know of the link, and will not resume it.
    checkConfirmation(await exchange.read(CONFIRMATION_BYTES, true));
    this.#halfOpen.delete(exchange);
    verdict.open(exchange.complete());
  }

  #decide(
    request: HandshakeRequest,
    identity: PeerIdentity | undefined,
    peer: string | undefined,
  ): HandshakeVerdict | Promise<HandshakeVerdict> {
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
    return this.#options.decide(request, identity, peer);
  }
}
