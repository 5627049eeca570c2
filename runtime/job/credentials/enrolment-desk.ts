/**
 * The side of the issuer in enrolments. It expects hosts with certain identities, each with a secret of its own, and signs
 * certificates for the first key for which the secret was proved: the first certificate of the host, and those that
 * renew it. Bytes of unknown peers are limited in number and time.
 */
import type { Clock, Random } from "../../link/clock.js";
import { HandshakeError } from "../../link/handshake/errors.js";
import { HandshakeExchange } from "../../link/handshake/exchange.js";
import { defaultHandshakeLimits, type HandshakeLimits } from "../../link/handshake/limits.js";
import { isSameProof } from "../../link/handshake/proof.js";
import type { Pipe } from "../../link/transport/pipe.js";
import { formatIdentity, type Identity, parseIdentity } from "../../link/transport/tls/identity.js";
import type { Authority } from "./authority.js";
import { type EnrolledKeys, HeldKeys } from "./enrolled-keys.js";
import {
  type EnrolmentAnswer,
  HEAD_BYTES,
  HELLO_BYTES,
  PROOF_BYTES,
  proveEnrolment,
  readHead,
  readRequestBody,
  writeBody,
  writeHello,
} from "./enrolment-messages.js";
import { createEnrolmentSecret, parseEnrolmentSecret } from "./enrolment-secret.js";

export interface EnrolmentDeskOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly authority: Authority;
  /** The time from now until the certificates of hosts expire, in milliseconds. */
  readonly validFor: number;
  /** The secrets of hosts that are expected from the start, by the URIs of their identities. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Keeps the keys of the hosts that have enrolled. Default: in memory. */
  readonly keys?: EnrolledKeys;
  readonly limits?: Partial<Pick<HandshakeLimits, "handshakeMs" | "halfOpen">>;
}

export class EnrolmentDesk {
  readonly #options: EnrolmentDeskOptions;
  readonly #limits: Pick<HandshakeLimits, "handshakeMs" | "halfOpen">;
  /** The secrets of the expected hosts by the URIs of their identities. */
  readonly #secrets = new Map<string, Uint8Array>();
  readonly #keys: EnrolledKeys;
  readonly #open = new Set<HandshakeExchange>();

  constructor(options: EnrolmentDeskOptions) {
    this.#options = options;
    this.#limits = { ...defaultHandshakeLimits, ...options.limits };
    this.#keys = options.keys ?? new HeldKeys();
    for (const [uri, secret] of Object.entries(options.secrets ?? {})) {
      this.#secrets.set(uri, parseEnrolmentSecret(secret, `the secrets of the issuer, for ${uri}`));
    }
  }

  /**
   * Expects a host. An earlier secret for the same identity is not valid any more.
   * @returns the secret, which works for one key
   */
  expect(identity: Identity): string {
    const secret = createEnrolmentSecret();
    const uri = formatIdentity(identity);
    this.#keys.forget(uri);
    this.#secrets.set(uri, parseEnrolmentSecret(secret, "the issuer"));
    return secret;
  }

  /** Lets another key enrol with the secret of a host, because the host is replaced. */
  replaced(uri: string): void {
    this.#keys.forget(uri);
  }

  /** Expects a host no more. */
  forget(identity: Identity): void {
    this.#secrets.delete(formatIdentity(identity));
  }

  /**
   * Serves one enrolment over a new connection, and closes the connection.
   * @returns the identity that was enrolled
   * @throws HandshakeError if the peer was refused, sends what it should not, or takes too long
   */
  async serve(pipe: Pipe): Promise<Identity> {
    const exchange = new HandshakeExchange(pipe, this.#options.clock, this.#limits.handshakeMs, () => {
      this.#open.delete(exchange);
    });
    this.#open.add(exchange);
    const [oldest] = this.#open;
    if (oldest !== undefined && this.#open.size > this.#limits.halfOpen) {
      this.#open.delete(oldest);
      oldest.destroy(new HandshakeError("busy", "there are too many connections that do not complete their enrolment"));
    }
    try {
      return await this.#serve(exchange);
    } finally {
      this.#open.delete(exchange);
      exchange.close();
    }
  }

  async #serve(exchange: HandshakeExchange): Promise<Identity> {
    const hello = await exchange.read(HELLO_BYTES);
    readHead(hello, "the host");
    const challenge = writeHello(this.#options.random);
    exchange.send(challenge);
    const head = await exchange.read(HEAD_BYTES);
    const body = await exchange.read(readHead(head, "the host"));
    const proof = await exchange.read(PROOF_BYTES);
    exchange.checkNothingUnread();
    const { identity: uri, publicKey } = readRequestBody(body);
    const secret = this.#secrets.get(uri);
    if (secret === undefined) this.#refuse(exchange, "no host with this identity is expected");
    const said = [hello, challenge, head, body];
    if (!isSameProof(proof, proveEnrolment("host", secret, said))) {
      this.#refuse(exchange, "its secret is not the one for this identity");
    }
    const answer = this.#answer(uri, publicKey);
    const written = writeBody(answer);
    exchange.send(Buffer.concat([written, proveEnrolment("issuer", secret, [...said, written])]));
    if ("refused" in answer) throw new HandshakeError("token", `cannot enrol ${uri}: ${answer.refused}`);
    return parseIdentity(uri);
  }

  /** Answers a host that has proved the secret. */
  #answer(uri: string, publicKey: string): EnrolmentAnswer {
    const { authority, validFor, clock } = this.#options;
    try {
      const chain = authority.issue(publicKey, parseIdentity(uri), { validFor });
      // A key that cannot be signed does not use the secret up.
      if (this.#keys.keep(uri, publicKey) !== publicKey) {
        return { refused: "its secret has been used by a host with another key; if that was not you, stop the job" };
      }
      return { chain, authority: authority.certificate, validFor, issuedAt: clock.epochMs() };
    } catch (error) {
      return { refused: (error as Error).message };
    }
  }

  /** Refuses a peer that has not proved the secret. The refusal has no proof. */
  #refuse(exchange: HandshakeExchange, refused: string): never {
    exchange.send(Buffer.concat([writeBody({ refused }), Buffer.alloc(PROOF_BYTES)]));
    throw new HandshakeError("token", `cannot enrol a host: ${refused}`);
  }
}
