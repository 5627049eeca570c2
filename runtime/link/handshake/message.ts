/**
 * The messages of the handshake (docs/reference/protocol.md). They have fixed sizes and are little-endian. Each begins
 * with the magic number and the version, so that two sides of different versions can say why they do not connect. This
 * file encodes and decodes the messages; accept.ts and dial.ts check them.
 */
import { type ClockFault, explainClockFault, formatTime } from "../transport/tls/certificate-faults.js";
import { HandshakeError, type HandshakeReason, handshakeReasons } from "./errors.js";

/** The first word of each message: "VCRH". */
const HANDSHAKE_MAGIC = 0x48524356;
export const HANDSHAKE_VERSION = 2;

export const REQUEST_BYTES = 88;
export const CHALLENGE_BYTES = 40;
export const PROOF_BYTES = 32;
export const ANSWER_BYTES = 512;
export const CONFIRMATION_BYTES = 8;
export const NONCE_BYTES = 32;

const MessageBit = { first: 1, token: 2, direct: 4, memory: 8, turnedAway: 16, tunnel: 32 } as const;
const proofOffset = 24;
const textOffset = proofOffset + PROOF_BYTES;

/**
 * The use of a connection: a link, only the transfer of registered memory, or a tunnel, through which a driver makes
 * other connections.
 */
export type LinkUse = "link" | "memory" | "tunnel";

/** The bits of the uses. A link has none. */
const useBits = { link: 0, memory: MessageBit.memory, tunnel: MessageBit.tunnel } as const;

/** The contents of a dialler's request. */
export interface LinkOffer {
  readonly universe: bigint;
  /** The proc that dials. */
  readonly from: bigint;
  /** The requested proc. On a host, this is the agent of a driver. */
  readonly to: bigint;
  /** The id of the link, drawn at random by the dialler. */
  readonly link: bigint;
  /** Whether the dialler has not had an answer on this link yet, so that the link may not exist. */
  readonly first: boolean;
  /** Whether the request is for the proc `to` itself, and not for an agent that the host creates for the driver. */
  readonly direct: boolean;
  readonly use: LinkUse;
  /**
   * The time for which the dialler goes on with the link without a connection, in milliseconds. The acceptor does so for as long,
   * at least. Absent: the limit of the acceptor.
   */
  readonly giveUpMs?: number;
  /** The number of bytes of the link that the dialler has received so far, over all connections. */
  readonly received: number;
}

export interface HandshakeRequest extends LinkOffer {
  readonly protocol: number;
  readonly token: boolean;
}

export interface HandshakeChallenge {
  readonly token: boolean;
}

export type HandshakeAnswer =
  | { readonly kind: "open"; readonly received: number }
  | { readonly kind: "redirect"; readonly port: number }
  | { readonly kind: "refuse"; readonly reason: HandshakeReason; readonly text: string };

export function writeRequest(request: HandshakeRequest, nonce: Uint8Array): Uint8Array {
  const { first, token, direct, use } = request;
  const bits =
    (first ? MessageBit.first : 0) | (token ? MessageBit.token : 0) | (direct ? MessageBit.direct : 0) | useBits[use];
  const { bytes, view } = newMessage(REQUEST_BYTES, bits);
  view.setUint32(8, request.protocol, true);
  view.setUint32(12, request.giveUpMs ?? 0, true);
  view.setBigUint64(16, request.universe, true);
  view.setBigUint64(24, request.from, true);
  view.setBigUint64(32, request.to, true);
  view.setBigUint64(40, request.link, true);
  view.setBigUint64(48, BigInt(request.received), true);
  bytes.set(nonce, 56);
  return bytes;
}

/** @throws HandshakeError if the message is malformed, or from a peer of another version or transport */
export function readRequest(bytes: Uint8Array): HandshakeRequest {
  const { view, bits } = checkMessageHead(bytes, "request");
  const giveUpMs = view.getUint32(12, true);
  return {
    first: (bits & MessageBit.first) !== 0,
    token: (bits & MessageBit.token) !== 0,
    direct: (bits & MessageBit.direct) !== 0,
    use: (bits & MessageBit.tunnel) !== 0 ? "tunnel" : (bits & MessageBit.memory) !== 0 ? "memory" : "link",
    protocol: view.getUint32(8, true),
    ...(giveUpMs === 0 ? {} : { giveUpMs }),
    universe: view.getBigUint64(16, true),
    from: view.getBigUint64(24, true),
    to: view.getBigUint64(32, true),
    link: view.getBigUint64(40, true),
    received: readOffset(view, 48, "request"),
  };
}

export function writeChallenge({ token }: HandshakeChallenge, nonce: Uint8Array): Uint8Array {
  const { bytes } = newMessage(CHALLENGE_BYTES, token ? MessageBit.token : 0);
  bytes.set(nonce, 8);
  return bytes;
}

/** The text of a challenge, in place of the code of a certificate error, if the dialler should have spoken TLS. */
const TLS_EXPECTED = "TLS_EXPECTED";
const challengeTextOffset = 8;
/** The two times of a clock fault, in seconds since 1970. They are zero in other messages. */
const faultTimesOffset = 32;

/**
 * Encodes the message that the acceptor sends instead of a challenge if the transport has refused the dialler.
 * @param fault the OpenSSL code that says why the certificate is not trusted; undefined if the dialler does not speak
 * TLS
 * @param times the times that disagree, if the clock of this machine is a reason
 */
export function writeTurnedAway(fault: string | undefined, times?: ClockFault): Uint8Array {
  const { bytes, view } = newMessage(CHALLENGE_BYTES, MessageBit.turnedAway);
  new TextEncoder().encodeInto(fault ?? TLS_EXPECTED, bytes.subarray(challengeTextOffset));
  if (times !== undefined) {
    view.setUint32(faultTimesOffset, times.limit / 1000, true);
    view.setUint32(faultTimesOffset + 4, times.now / 1000, true);
  }
  return bytes;
}

/** @param now the time of this machine's clock, in milliseconds since 1970 */
function turnedAwayError(bytes: Uint8Array, now: number): HandshakeError {
  const [fault = ""] = new TextDecoder().decode(bytes.subarray(challengeTextOffset)).split("\0", 1);
  if (fault === TLS_EXPECTED) {
    const text =
      "the host speaks TLS and this process does not; give certificates, and use tls:// in its address unless it is the URL " +
      "of a WebSocket";
    return new HandshakeError("transport", text);
  }
  // The sender is not authenticated, so the text is only shown if it has the form of an OpenSSL code.
  const said = /^[A-Z_]+$/.test(fault) ? fault : "it does not say why";
  const times = clockFaultCodes.has(fault) ? explainTimes(bytes, now) : "";
  return new HandshakeError("certificate", `the host does not trust the certificate of this process: ${said}${times}`);
}

/** These codes are short enough to leave room for the times. */
const clockFaultCodes = new Set(["CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID"]);

function explainTimes(bytes: Uint8Array, now: number): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const [limit, host] = [0, 4].map((at) => view.getUint32(faultTimesOffset + at, true) * 1000) as [number, number];
  if (limit === 0) return "";
  const told = explainClockFault({ limit, now: host }, "the host");
  return `; ${told}; compare it with the clock of this machine, which says ${formatTime(now)}`;
}

/**
 * @param now the time of this machine's clock, in milliseconds since 1970
 * @throws HandshakeError if the message is malformed, or from a peer of another version or transport
 */
export function readChallenge(bytes: Uint8Array, now: number): HandshakeChallenge {
  const { bits } = checkMessageHead(bytes, "challenge");
  if ((bits & MessageBit.turnedAway) !== 0) throw turnedAwayError(bytes, now);
  return { token: (bits & MessageBit.token) !== 0 };
}

/** Encodes an answer. Its proof is zero. */
export function writeAnswer(answer: HandshakeAnswer): Uint8Array {
  const { bytes, view } = newMessage(ANSWER_BYTES, answerKinds.indexOf(answer.kind));
  if (answer.kind === "open") view.setBigUint64(16, BigInt(answer.received), true);
  else if (answer.kind === "redirect") view.setUint16(10, answer.port, true);
  else {
    view.setUint16(8, handshakeReasons.indexOf(answer.reason), true);
    const { written } = new TextEncoder().encodeInto(answer.text, bytes.subarray(textOffset));
    view.setUint16(12, written, true);
  }
  return bytes;
}

/** @throws HandshakeError if the message is malformed, or from a peer of another version or transport */
export function readAnswer(bytes: Uint8Array): HandshakeAnswer {
  const { view, bits } = checkMessageHead(bytes, "answer");
  const kind = answerKinds[bits];
  if (kind === "open") return { kind, received: readOffset(view, 16, "answer") };
  if (kind === "redirect") return { kind, port: view.getUint16(10, true) };
  const reason = handshakeReasons[view.getUint16(8, true)];
  const size = view.getUint16(12, true);
  if (kind === undefined || reason === undefined || textOffset + size > ANSWER_BYTES) {
    throw new HandshakeError("protocol", "cannot read the answer of the handshake: it is malformed");
  }
  const text = new TextDecoder().decode(bytes.subarray(textOffset, textOffset + size));
  return { kind, reason, text };
}

const answerKinds: readonly HandshakeAnswer["kind"][] = ["open", "redirect", "refuse"];

/** Encodes the message with which a dialler confirms that it knows of its link. */
export function writeConfirmation(): Uint8Array {
  return newMessage(CONFIRMATION_BYTES, 0).bytes;
}

/** @throws HandshakeError if the message is malformed, or from a peer of another version or transport */
export function checkConfirmation(bytes: Uint8Array): void {
  checkMessageHead(bytes, "last message");
}

/** Returns the field of an answer that holds the proof. */
export function proofField(answer: Uint8Array): Uint8Array {
  return answer.subarray(proofOffset, textOffset);
}

function newMessage(size: number, bits: number): { bytes: Uint8Array; view: DataView } {
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, HANDSHAKE_MAGIC, true);
  view.setUint16(4, HANDSHAKE_VERSION, true);
  view.setUint16(6, bits, true);
  return { bytes, view };
}

function checkMessageHead(bytes: Uint8Array, what: string): { view: DataView; bits: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  // These bytes begin the first record of a TLS handshake.
  if (bytes[0] === 0x16 && bytes[1] === 0x03) {
    const text =
      "the peer speaks TLS and this process does not; use tcp:// in the address, or start both with certificates";
    throw new HandshakeError("transport", text);
  }
  if (view.getUint32(0, true) !== HANDSHAKE_MAGIC) {
    throw new HandshakeError(
      "protocol",
      `cannot read the ${what} of the handshake: the peer does not speak this protocol; is it a Viceroy process?`,
    );
  }
  const version = view.getUint16(4, true);
  if (version !== HANDSHAKE_VERSION) {
    throw new HandshakeError(
      "version",
      `cannot connect: the peer speaks version ${version} of the handshake, this process ${HANDSHAKE_VERSION}; ` +
        "install the same version of viceroy on both sides",
    );
  }
  return { view, bits: view.getUint16(6, true) };
}

function readOffset(view: DataView, at: number, what: string): number {
  const value = view.getBigUint64(at, true);
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new HandshakeError("offset", `cannot read the ${what} of the handshake: nobody has received ${value} bytes`);
  }
  return Number(value);
}
