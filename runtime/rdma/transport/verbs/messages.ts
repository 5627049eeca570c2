/**
 * The messages that initiators and owners exchange before the first transfer, over the links of calls. Numbers have a
 * fixed length and are little-endian. Neither side trusts the messages of the other. Each request names a grant, and an
 * owner creates no queue pair without a valid one.
 */
import type { GrantClaim } from "../../../../generated/rdma.js";
import { isRefusal, type Refusal } from "../../grant/refusal.js";
import { type HeartbeatTarget, SECRET_BYTES } from "./device.js";
import type { RdmaPort } from "./ports.js";
import type { QueuePairAddress } from "./queue-pair.js";

const GID_BYTES = 16;
/** Number of bytes of the token by which an initiator identifies its connection. */
export const TOKEN_BYTES = 8;
/** Number of bytes of the claim with which a request begins. */
export const CLAIM_BYTES = 53;
/** Maximum number of ports in a handle. */
const maxPorts = 2;

/** The address and the heartbeat target of one side of a connection. */
export interface QueuePairEnd {
  readonly pair: QueuePairAddress;
  readonly heartbeatTarget: HeartbeatTarget;
}

export interface VerbsRequest {
  readonly grant: GrantClaim;
  /** The address of the port of the owner. */
  readonly gid: Uint8Array;
  /** Present if the initiator requests a queue pair. It replaces the previous queue pair with the same token. */
  readonly connect?: { readonly token: Uint8Array; readonly end: QueuePairEnd };
}

export interface VerbsAnswer {
  readonly address: bigint;
  readonly key: number;
  /** The queue pair of the owner, if one was requested. */
  readonly end?: QueuePairEnd;
}

/** Reports that the grant is valid but the owner's device cannot serve it. */
export interface VerbsFailure {
  readonly why: string;
}

const answeredCode = 0;
const failedCode = 1;

export function encodePorts(ports: readonly RdmaPort[]): Uint8Array {
  const writer = new VerbsMessageWriter();
  for (const { gid, link } of ports.slice(0, maxPorts)) {
    writer.number(link === "infiniband" ? 1 : 0, 1);
    writer.bytes(gid);
  }
  return writer.take();
}

/** Decodes the complete ports in the part of a handle. Trailing bytes are ignored, because handles are not trusted. */
export function decodePorts(bytes: Uint8Array): { readonly link: RdmaPort["link"]; readonly gid: Uint8Array }[] {
  const reader = new VerbsMessageReader(bytes);
  const count = Math.min(Math.floor(bytes.length / (1 + GID_BYTES)), maxPorts);
  return Array.from({ length: count }, () => {
    const link = reader.number(1) === 1 ? "infiniband" : "ethernet";
    return { link, gid: reader.bytes(GID_BYTES) };
  });
}

export function encodeRequest({ grant, gid, connect }: VerbsRequest): Uint8Array {
  const writer = new VerbsMessageWriter();
  writer.number(grant.slot, 4);
  writer.number(grant.generation, 4);
  for (const word of [grant.nonce0, grant.nonce1, grant.machine, grant.started]) writer.word(word);
  writer.number(grant.pid, 4);
  writer.number(grant.length, 8);
  writer.number(grant.writable ? 1 : 0, 1);
  writer.bytes(gid);
  if (connect !== undefined) {
    writer.bytes(connect.token);
    writeEnd(writer, connect.end);
  }
  return writer.take();
}

/** @throws RangeError if the message is invalid */
export function decodeRequest(bytes: Uint8Array): VerbsRequest {
  const reader = new VerbsMessageReader(bytes);
  const grant = readClaim(reader);
  const gid = reader.bytes(GID_BYTES);
  if (!reader.hasMore) return { grant, gid };
  return { grant, gid, connect: { token: reader.bytes(TOKEN_BYTES), end: reader.readLast(readEnd) } };
}

function readClaim(reader: VerbsMessageReader): GrantClaim {
  const [slot, generation] = [reader.number(4), reader.number(4)];
  const [nonce0, nonce1, machine, started] = [reader.word(), reader.word(), reader.word(), reader.word()];
  const [pid, length, writable] = [reader.number(4), Number(reader.word()), reader.number(1) === 1];
  return { slot, generation, nonce0, nonce1, machine, started, pid, length, writable };
}

export function encodeAnswer(answer: VerbsAnswer | Refusal | VerbsFailure): Uint8Array {
  const writer = new VerbsMessageWriter();
  if (typeof answer === "string") {
    writer.bytes(new TextEncoder().encode(answer));
  } else if ("why" in answer) {
    writer.number(failedCode, 1);
    writer.bytes(new TextEncoder().encode(answer.why));
  } else {
    writer.number(answeredCode, 1);
    writer.word(answer.address);
    writer.number(answer.key, 4);
    if (answer.end !== undefined) writeEnd(writer, answer.end);
  }
  return writer.take();
}

/** @throws RangeError if the message is invalid */
export function decodeAnswer(bytes: Uint8Array): VerbsAnswer | Refusal | VerbsFailure {
  const reader = new VerbsMessageReader(bytes);
  const kind = reader.number(1);
  if (kind === failedCode) return { why: new TextDecoder().decode(bytes.subarray(1)) };
  if (kind !== answeredCode) {
    const text = new TextDecoder().decode(bytes);
    if (isRefusal(text)) return text;
    throw new RangeError("invalid message: expected an answer or a refusal");
  }
  const answer = { address: reader.word(), key: reader.number(4) };
  return reader.hasMore ? { ...answer, end: reader.readLast(readEnd) } : answer;
}

function writeEnd(writer: VerbsMessageWriter, { pair, heartbeatTarget }: QueuePairEnd): void {
  writer.bytes(pair.gid);
  writer.number(pair.number, 4);
  writer.number(pair.firstPacket, 4);
  writer.number(pair.lid, 2);
  writer.number(pair.mtu, 1);
  writer.number(pair.reads, 1);
  writer.word(heartbeatTarget.address);
  writer.number(heartbeatTarget.key, 4);
  writer.bytes(heartbeatTarget.secret);
}

function readEnd(reader: VerbsMessageReader): QueuePairEnd {
  const pair = {
    gid: reader.bytes(GID_BYTES),
    number: reader.number(4) & 0xff_ffff,
    firstPacket: reader.number(4) & 0xff_ffff,
    lid: reader.number(2),
    mtu: Math.min(Math.max(reader.number(1), 1), 5),
    reads: reader.number(1),
  };
  return {
    pair,
    heartbeatTarget: { address: reader.word(), key: reader.number(4), secret: reader.bytes(SECRET_BYTES) },
  };
}

class VerbsMessageWriter {
  readonly #bytes: number[] = [];

  number(value: number, length: number): void {
    for (let index = 0; index < length; index++) this.#bytes.push(Math.floor(value / 256 ** index) & 0xff);
  }

  word(value: bigint): void {
    for (let shift = 0n; shift < 64n; shift += 8n) this.#bytes.push(Number((value >> shift) & 0xffn));
  }

  bytes(bytes: Uint8Array): void {
    this.#bytes.push(...bytes);
  }

  take(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }
}

class VerbsMessageReader {
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get hasMore(): boolean {
    return this.#at < this.#view.byteLength;
  }

  number(length: 1 | 2 | 4): number {
    const at = this.#next(length);
    if (length === 1) return this.#view.getUint8(at);
    return length === 2 ? this.#view.getUint16(at, true) : this.#view.getUint32(at, true);
  }

  word(): bigint {
    return this.#view.getBigUint64(this.#next(8), true);
  }

  bytes(length: number): Uint8Array {
    const at = this.#next(length);
    return new Uint8Array(this.#view.buffer, this.#view.byteOffset + at, length).slice();
  }

  /** Reads the last value of a message. @throws RangeError if more bytes follow */
  readLast<T>(read: (reader: VerbsMessageReader) => T): T {
    const value = read(this);
    if (this.hasMore) throw new RangeError(`invalid message: expected ${this.#at} bytes, got ${this.#view.byteLength}`);
    return value;
  }

  #next(length: number): number {
    const at = this.#at;
    this.#at += length;
    if (this.#at <= this.#view.byteLength) return at;
    throw new RangeError(`invalid message: expected ${this.#at} bytes or more, got ${this.#view.byteLength}`);
  }
}
