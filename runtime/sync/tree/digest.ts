/**
 * Digests of content: SHA-256. Processors compute it faster than any other cryptographic hash that every supported version of
 * Node.js has, and no two different contents with one digest are known.
 */
import { createHash } from "node:crypto";

/** The size of a digest in bytes. */
export const DIGEST_BYTES = 32;

/** A digest as 64 lower-case hexadecimal digits. */
export type Digest = string;

/** Returns the digest of bytes. */
export function digestOf(bytes: Uint8Array): Digest {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Returns a digest as bytes. */
export function digestBytes(digest: Digest): Uint8Array {
  return Buffer.from(digest, "hex");
}

/** Returns the digests that stand one after the other in bytes. */
export function digestsIn(bytes: Uint8Array): Digest[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex");
  return Array.from({ length: Math.floor(bytes.length / DIGEST_BYTES) }, (_, i) =>
    text.slice(2 * DIGEST_BYTES * i, 2 * DIGEST_BYTES * (i + 1)),
  );
}

/** Returns the bytes of digests, one after the other. */
export function joinDigests(digests: readonly Digest[]): Uint8Array {
  return Buffer.from(digests.join(""), "hex");
}
