/**
 * The invitation that an initiator sends to an owner that cannot be dialled, such as a process on the driver's machine:
 * the owner is asked to connect to the initiator instead. The invitation is the request of a call to the owner's agent,
 * and is not trusted.
 */
import type { Location, ProcId } from "../../../link/address.js";

export interface Invitation {
  /** Identifies the connection when it arrives. */
  readonly token: bigint;
  /** The initiator, and the location at which it can be reached. */
  readonly proc: ProcId;
  readonly location: Location;
}

const HEAD_BYTES = 16;
/** Maximum size. A location contains the address of a host and the ancestors of a process. */
const MAX_INVITATION_BYTES = 4096;

export function writeInvitation({ token, proc, location }: Invitation): Uint8Array {
  const bytes = Buffer.concat([new Uint8Array(HEAD_BYTES), Buffer.from(location)]);
  bytes.writeBigUInt64LE(token, 0);
  bytes.writeBigUInt64LE(proc, 8);
  return bytes;
}

/** @throws RangeError if the size is invalid */
export function readInvitation(bytes: Uint8Array): Invitation {
  if (bytes.length < HEAD_BYTES || bytes.length > MAX_INVITATION_BYTES)
    throw new RangeError(
      `invalid invitation: expected ${HEAD_BYTES} to ${MAX_INVITATION_BYTES} bytes, got ${bytes.length}`,
    );
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return {
    token: buffer.readBigUInt64LE(0),
    proc: buffer.readBigUInt64LE(8),
    location: buffer.toString("utf8", HEAD_BYTES),
  };
}
