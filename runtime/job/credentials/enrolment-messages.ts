/**
 * The messages of an enrolment, byte for byte. They are little-endian, and each begins with the magic number and the
 * version. This file encodes and decodes them; `enrol.ts` and `enrolment-desk.ts` check them.
 *
 * 1. host: a nonce
 * 2. issuer: a nonce
 * 3. host: its identity and its public key, with a proof
 * 4. issuer: the certificate and the authority, or the reason of a refusal, with a proof
 *
 * A proof is an HMAC-SHA256 with the secret as its key, over the role of the sender and all messages so far.
 */
import { createHmac } from "node:crypto";
import type { Random } from "../../link/clock.js";
import { HandshakeError } from "../../link/handshake/errors.js";
import { createNonce } from "../../link/handshake/proof.js";

/** The first word of each message: "VCRE". */
const MAGIC = 0x45524356;
const VERSION = 1;
const NONCE_BYTES = 32;

export const HELLO_BYTES = 8 + NONCE_BYTES;
export const HEAD_BYTES = 8;
export const PROOF_BYTES = 32;
/** The largest body of a message. A request has about 300 bytes, an answer about 1,500. */
export const MAX_BODY_BYTES = 3072;

/** The request of a host. */
export interface EnrolmentRequest {
  /** The URI of the identity that the host was told. */
  readonly identity: string;
  /** The public key, as PEM. */
  readonly publicKey: string;
}

/** The certificates with which a host speaks TLS. Its private key never leaves it. */
export interface IssuedCertificate {
  /** The certificate, followed by those between it and the authority, as PEM. */
  readonly chain: string;
  /** The certificate of the authority, as PEM. */
  readonly authority: string;
  /**
   * The time from now until the certificate expires, in milliseconds. The receiver counts it on its own, because its
   * clock may show another time than that of the issuer.
   */
  readonly validFor: number;
  /** What the clock of the issuer has shown, in milliseconds since 1970. */
  readonly issuedAt: number;
}

export type EnrolmentAnswer = IssuedCertificate | { readonly refused: string };

export function writeHello(random: Random): Uint8Array {
  const bytes = newMessage(HELLO_BYTES, 0);
  bytes.set(createNonce(random), HEAD_BYTES);
  return bytes;
}

/** Encodes a message with a body, without its proof. */
export function writeBody(body: EnrolmentRequest | EnrolmentAnswer): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify(body));
  if (text.length > MAX_BODY_BYTES) {
    throw new RangeError(`cannot enrol: expected at most ${MAX_BODY_BYTES} bytes in a message, got ${text.length}`);
  }
  const bytes = newMessage(HEAD_BYTES + text.length, text.length);
  bytes.set(text, HEAD_BYTES);
  return bytes;
}

/**
 * Checks the head of a message.
 * @param peer who has sent it: `the host`
 * @returns the number of bytes of the body
 * @throws HandshakeError if the message is of another protocol or version, or too long
 */
export function readHead(bytes: Uint8Array, peer: string): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (view.getUint32(0, true) !== MAGIC) {
    throw new HandshakeError("protocol", `cannot enrol: ${peer} does not speak the protocol of enrolments`);
  }
  const version = view.getUint16(4, true);
  if (version !== VERSION) {
    const text = `cannot enrol: this process speaks version ${VERSION} of the protocol of enrolments, ${peer} ${version}`;
    throw new HandshakeError("version", text);
  }
  const size = view.getUint16(6, true);
  if (size <= MAX_BODY_BYTES) return size;
  const text = `cannot enrol: expected at most ${MAX_BODY_BYTES} bytes from ${peer}, got ${size}`;
  throw new HandshakeError("protocol", text);
}

/** @throws HandshakeError if the body is malformed */
export function readRequestBody(bytes: Uint8Array): EnrolmentRequest {
  const { identity, publicKey } = parseBody(bytes, "the host");
  if (typeof identity === "string" && typeof publicKey === "string") return { identity, publicKey };
  throw malformed("the host");
}

/** @throws HandshakeError if the body is malformed */
export function readAnswerBody(bytes: Uint8Array): EnrolmentAnswer {
  const { refused, chain, authority, validFor, issuedAt } = parseBody(bytes, "the issuer");
  if (typeof refused === "string") return { refused };
  const hasTexts = typeof chain === "string" && typeof authority === "string";
  if (!hasTexts || typeof validFor !== "number" || !(validFor > 0) || typeof issuedAt !== "number") {
    throw malformed("the issuer");
  }
  return { chain, authority, validFor, issuedAt };
}

function parseBody(bytes: Uint8Array, peer: string): Record<string, unknown> {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw malformed(peer);
  }
  if (typeof body !== "object" || body === null) throw malformed(peer);
  return body as Record<string, unknown>;
}

function malformed(peer: string): HandshakeError {
  return new HandshakeError("protocol", `cannot enrol: the message of ${peer} is malformed`);
}

/**
 * Computes the proof of one side.
 * @param said all messages so far, in order
 */
export function proveEnrolment(side: "host" | "issuer", secret: Uint8Array, said: readonly Uint8Array[]): Uint8Array {
  const hmac = createHmac("sha256", secret).update(`viceroy enrolment ${side}`);
  for (const bytes of said) hmac.update(bytes);
  return hmac.digest();
}

function newMessage(size: number, bodyBytes: number): Uint8Array {
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint16(4, VERSION, true);
  view.setUint16(6, bodyBytes, true);
  return bytes;
}
