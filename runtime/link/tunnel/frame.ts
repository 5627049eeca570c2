/**
 * The frames of a tunnel (docs/reference/protocol.md). A frame is 8 bytes of header and a body. All numbers are
 * little-endian.
 *
 *   word 0   length of the body in bytes (24 bits), kind (8 bits)
 *   word 1   the number of the channel, or of the ping
 */
import { ProtocolError } from "../frame/frame.js";
import { TICKET_BYTES } from "../transport/socket/data-connection.js";

export const TUNNEL_HEADER = 8;

/** The largest body of a frame, in bytes. Bulk bytes are cut into such pieces, so that other channels need not wait. */
export const MAX_TUNNEL_BODY = 32 * 1024;

/** The largest text of an address or of a reason, in bytes. */
const MAX_TEXT_BYTES = 1024;

export const TunnelKind = {
  /** Asks for a channel to the address in the body. The first u32 of the body is the window of the sender. */
  open: 1,
  /** The channel is connected. The body is the window of the sender. */
  opened: 2,
  /** The channel could not be connected. The body is the code of the system's error, a line feed, and a text. */
  refused: 3,
  /** Bytes of the channel. */
  data: 4,
  /** The receiver has taken bytes of the channel: the number in the body may be sent in addition. */
  credit: 5,
  /** The sender has closed the channel after everything that it has sent. */
  end: 6,
  /** The sender has ended the channel at once, for the reason in the body. */
  reset: 7,
  /** Asks for a `pong` with the same number. */
  ping: 8,
  pong: 9,
  /** Announces a data connection: its ticket, and the address to which it shall lead. */
  openData: 10,
  /** The data connection with the ticket has come. */
  dataArrived: 11,
  /** The data connection leads to its address. */
  dataJoined: 12,
} as const;

/** Encodes a frame. */
export function newTunnelFrame(kind: number, channel: number, body: Uint8Array = noBytes): Uint8Array {
  const frame = new Uint8Array(TUNNEL_HEADER + body.length);
  writeTunnelHeader(frame, kind, channel, body.length);
  frame.set(body, TUNNEL_HEADER);
  return frame;
}

/** Writes a header at the start of `bytes`. */
export function writeTunnelHeader(bytes: Uint8Array, kind: number, channel: number, size: number): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, TUNNEL_HEADER);
  view.setUint32(0, size | (kind << 24), true);
  view.setUint32(4, channel, true);
}

/** Encodes a number as the body of a frame. */
export function numberBody(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value, true);
  return bytes;
}

/** Encodes a number and a text as the body of a frame. */
export function openBody(window: number, address: string): Uint8Array {
  return Buffer.concat([numberBody(window), textBody(address)]);
}

/** Encodes a ticket and the address of a data connection as the body of a frame. */
export function openDataBody(ticket: Uint8Array, address: string): Uint8Array {
  return Buffer.concat([ticket, textBody(address)]);
}

/** Encodes a text as the body of a frame. A text that is too long is cut. */
export function textBody(text: string): Uint8Array {
  const bytes = new Uint8Array(MAX_TEXT_BYTES);
  return bytes.subarray(0, new TextEncoder().encodeInto(text, bytes).written);
}

/** Reads the number at the start of a body. @throws ProtocolError if it is not there, or is 0 */
export function readNumber(body: Uint8Array, what: string): number {
  if (body.length < 4) throw new ProtocolError(`cannot read ${what} of a tunnel: it has ${body.length} bytes`);
  const value = new DataView(body.buffer, body.byteOffset, 4).getUint32(0, true);
  if (value === 0) throw new ProtocolError(`cannot read ${what} of a tunnel: the number is 0`);
  return value;
}

export function readText(body: Uint8Array): string {
  return new TextDecoder().decode(body);
}

/** @throws ProtocolError if frames of this kind cannot have a body of this size */
export function checkTunnelFrame(kind: number, size: number): void {
  const limits = bodySizes[kind];
  if (limits !== undefined && size >= limits[0] && size <= limits[1]) return;
  throw new ProtocolError(`cannot read frame of a tunnel: kind ${kind} cannot have ${size} bytes`);
}

/** The smallest and the largest body of each kind. */
const bodySizes: Readonly<Record<number, readonly [number, number]>> = {
  [TunnelKind.open]: [5, 4 + MAX_TEXT_BYTES],
  [TunnelKind.opened]: [4, 4],
  [TunnelKind.refused]: [0, MAX_TEXT_BYTES],
  [TunnelKind.data]: [1, MAX_TUNNEL_BODY],
  [TunnelKind.credit]: [4, 4],
  [TunnelKind.end]: [0, 0],
  [TunnelKind.reset]: [0, MAX_TEXT_BYTES],
  [TunnelKind.ping]: [0, 0],
  [TunnelKind.pong]: [0, 0],
  [TunnelKind.openData]: [TICKET_BYTES + 1, TICKET_BYTES + MAX_TEXT_BYTES],
  [TunnelKind.dataArrived]: [0, 0],
  [TunnelKind.dataJoined]: [0, 0],
};

const noBytes = new Uint8Array(0);
