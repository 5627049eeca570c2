/**
 * The frames of a connection for memory bytes. The initiator sends requests of 72 bytes. The owner answers each
 * request, in order, with 8 bytes. Numbers are little-endian. The bytes of a write follow its request, and those of a
 * read follow its answer. No input is trusted. The format is described in docs/reference/protocol.md.
 */
import type { GrantClaim, MemoryAnswer } from "../../../../generated/rdma.js";
import { ProtocolError } from "../../../link/frame/frame.js";

/** Maximum number of bytes that one request transfers. */
export const MAX_PIECE_BYTES = 1 << 20;
/** Maximum number of unanswered requests of a connection. An owner ends a connection that exceeds the limit. */
export const MAX_UNANSWERED = 512;

export const REQUEST_BYTES = 72;
export const ANSWER_BYTES = 8;

/** The bytes of "VCRM". */
const PROTOCOL_MAGIC = 0x4d52_4356;
const VERSION = 1;
const WRITABLE = 1;

export const MemoryFrameKind = { hello: 0, read: 1, write: 2, offer: 3 } as const;
export type MemoryFrameKind = (typeof MemoryFrameKind)[keyof typeof MemoryFrameKind];

export type Refused = NonNullable<MemoryAnswer["refused"]>;

/** Refusals by the code in an answer, which counts from 1. The code 0 means that the request was carried out. */
const refusals: readonly Refused[] = ["forged", "stale", "revoked", "dropped", "access", "bounds"];

/** A request to read or write a range of granted memory. */
export interface MemoryRequest {
  readonly kind: typeof MemoryFrameKind.read | typeof MemoryFrameKind.write;
  readonly claim: GrantClaim;
  readonly offset: number;
  readonly length: number;
}

/** Returns the first frame that an initiator sends. */
export function writeHello(universe: bigint): Uint8Array {
  return newIntroduction(MemoryFrameKind.hello, universe).bytes;
}

/**
 * Returns the first frame of an owner that has connected to an initiator on its invitation (invitation.ts). After it
 * the initiator sends its hello, as on any connection.
 */
export function writeOffer(universe: bigint, token: bigint): Uint8Array {
  const { bytes, view } = newIntroduction(MemoryFrameKind.offer, universe);
  view.setBigUint64(24, token, true);
  return bytes;
}

/**
 * Reads the first frame of the peer that has connected.
 * @returns undefined if the peer is an initiator; the token of the invitation if it is an owner
 * @throws ProtocolError if the peer belongs to another universe or speaks another protocol or version
 */
export function readIntroduction(view: DataView, at: number, universe: bigint): bigint | undefined {
  const kind = view.getUint32(at, true);
  if (
    (kind !== MemoryFrameKind.hello && kind !== MemoryFrameKind.offer) ||
    view.getUint32(at + 4, true) !== PROTOCOL_MAGIC
  ) {
    throw new ProtocolError("cannot read memory frame: the peer does not speak this protocol");
  }
  checkVersion(view.getUint32(at + 16, true));
  if (view.getBigUint64(at + 8, true) !== universe) {
    throw new ProtocolError("cannot read memory frame: the peer belongs to another universe");
  }
  return kind === MemoryFrameKind.offer ? view.getBigUint64(at + 24, true) : undefined;
}

export function writeWelcome(): Uint8Array {
  const bytes = new Uint8Array(ANSWER_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, PROTOCOL_MAGIC, true);
  view.setUint32(4, VERSION, true);
  return bytes;
}

/** @throws ProtocolError */
export function readWelcome(view: DataView, at: number): void {
  if (view.getUint32(at, true) !== PROTOCOL_MAGIC) {
    throw new ProtocolError("cannot read memory frame: the peer does not speak this protocol");
  }
  checkVersion(view.getUint32(at + 4, true));
}

function checkVersion(version: number): void {
  if (version === VERSION) return;
  throw new ProtocolError(
    `cannot read memory frame: the peer speaks version ${version} of this protocol, this process ${VERSION}`,
  );
}

export function writeRequest({ kind, claim, offset, length }: MemoryRequest): Uint8Array {
  const { bytes, view } = newRequestFrame(kind);
  view.setUint32(4, claim.slot, true);
  view.setBigUint64(8, BigInt(offset), true);
  view.setUint32(16, length, true);
  view.setUint32(20, claim.generation, true);
  view.setBigUint64(24, claim.nonce0, true);
  view.setBigUint64(32, claim.nonce1, true);
  view.setBigUint64(40, claim.machine, true);
  view.setBigUint64(48, claim.started, true);
  view.setBigUint64(56, BigInt(claim.length), true);
  view.setUint32(64, claim.pid, true);
  view.setUint32(68, claim.writable ? WRITABLE : 0, true);
  return bytes;
}

/**
 * Reads a request. Numbers above 2^53 are rounded, because no memory is so large.
 * @throws ProtocolError if the kind is unknown or a write is too long
 */
export function readRequest(view: DataView, at: number): MemoryRequest {
  const kind = view.getUint32(at, true);
  if (kind !== MemoryFrameKind.read && kind !== MemoryFrameKind.write) {
    throw new ProtocolError(`cannot read memory frame: unknown kind ${kind}`);
  }
  const length = view.getUint32(at + 16, true);
  if (kind === MemoryFrameKind.write && length > MAX_PIECE_BYTES) {
    throw new ProtocolError(`cannot read memory frame: a write of ${length} bytes, more than ${MAX_PIECE_BYTES}`);
  }
  const claim: GrantClaim = {
    slot: view.getUint32(at + 4, true),
    generation: view.getUint32(at + 20, true),
    nonce0: view.getBigUint64(at + 24, true),
    nonce1: view.getBigUint64(at + 32, true),
    machine: view.getBigUint64(at + 40, true),
    started: view.getBigUint64(at + 48, true),
    length: Number(view.getBigUint64(at + 56, true)),
    pid: view.getUint32(at + 64, true),
    writable: view.getUint32(at + 68, true) === WRITABLE,
  };
  return { kind, claim, offset: Number(view.getBigUint64(at + 8, true)), length };
}

/** @param length number of bytes that follow */
export function writeAnswer(refused: Refused | undefined, length: number): Uint8Array {
  const bytes = new Uint8Array(ANSWER_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, refused === undefined ? 0 : 1 + refusals.indexOf(refused), true);
  view.setUint32(4, length, true);
  return bytes;
}

/**
 * Reads an answer.
 * @param length number of bytes that follow if the request was carried out
 * @returns the refusal, or undefined if the request was carried out
 * @throws ProtocolError if the length differs or the code is unknown
 */
export function readAnswer(view: DataView, at: number, length: number): Refused | undefined {
  const code = view.getUint32(at, true);
  const follow = view.getUint32(at + 4, true);
  const refused = refusals[code - 1];
  if (code !== 0 && refused === undefined) throw new ProtocolError(`cannot read memory frame: unknown answer ${code}`);
  const expected = refused === undefined ? length : 0;
  if (follow !== expected) {
    throw new ProtocolError(`cannot read memory frame: expected ${expected} bytes, got ${follow}`);
  }
  return refused;
}

function newIntroduction(kind: MemoryFrameKind, universe: bigint): { bytes: Uint8Array; view: DataView } {
  const { bytes, view } = newRequestFrame(kind);
  view.setUint32(4, PROTOCOL_MAGIC, true);
  view.setBigUint64(8, universe, true);
  view.setUint32(16, VERSION, true);
  return { bytes, view };
}

function newRequestFrame(kind: MemoryFrameKind): { bytes: Uint8Array; view: DataView } {
  const bytes = new Uint8Array(REQUEST_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, kind, true);
  return { bytes, view };
}
