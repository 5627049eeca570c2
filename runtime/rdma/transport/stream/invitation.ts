/**
 * What an initiator asks of an owner to whom it cannot connect, such as a driver's process of one on a host: that the owner connects to it. Goes by a
 * call of the owner's agent; whoever reads it trusts nothing of it.
 */
import type { Location, ProcId } from "../../../link/address.js";

export interface Invitation {
  /** By which the connection is known when it comes. */
  readonly token: bigint;
  /** Who asks, and where that one can be reached. */
  readonly proc: ProcId;
  readonly location: Location;
}

const HEAD_BYTES = 16;
/** Locations hold the name of a host, and those who have made a process. */
const MAX_INVITATION_BYTES = 4096;

export function writeInvitation({ token, proc, location }: Invitation): Uint8Array {
  const bytes = Buffer.concat([new Uint8Array(HEAD_BYTES), Buffer.from(location)]);
  bytes.writeBigUInt64LE(token, 0);
  bytes.writeBigUInt64LE(proc, 8);
  return bytes;
}

/** @throws RangeError */
export function readInvitation(bytes: Uint8Array): Invitation {
  if (bytes.length < HEAD_BYTES || bytes.length > MAX_INVITATION_BYTES)
    throw new RangeError("an invitation to connect is none");
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return {
    token: buffer.readBigUInt64LE(0),
    proc: buffer.readBigUInt64LE(8),
    location: buffer.toString("utf8", HEAD_BYTES),
  };
}
