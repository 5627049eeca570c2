/**
 * Proves that two sides have the same token without sending the token. A proof is an HMAC-SHA256 with the token as its
 * key, over all messages of the handshake, the new nonces of both sides included. A recorded proof is useless in
 * another handshake.
 */
import { lazyModules } from "../../lazy-modules.js";
import type { Random } from "../clock.js";
import { NONCE_BYTES } from "./message.js";

/** The shortest length of a token. 16 characters of base64 are 96 bits, which cannot be guessed. */
const MIN_TOKEN_LENGTH = 16;

/**
 * Reads a token from the text of a file or an environment variable. White space around the token is removed.
 * @param source the file or variable, for errors
 * @throws TypeError if the token is too short
 */
export function parseToken(text: string, source: string): string {
  const token = text.trim();
  if (token.length >= MIN_TOKEN_LENGTH) return token;
  throw new TypeError(
    `cannot use the token from ${source}: expected at least ${MIN_TOKEN_LENGTH} characters, got ${token.length}; ` +
      "make one with: openssl rand -base64 32",
  );
}

/** Creates the random bytes that make a handshake unique. */
export function createNonce(random: Random): Uint8Array {
  const words = new BigUint64Array(NONCE_BYTES / 8);
  for (let i = 0; i < words.length; i++) words[i] = random.id();
  return new Uint8Array(words.buffer);
}

/**
 * Computes the proof of one side.
 * @param said all messages of the handshake so far, in order
 */
export function computeProof(
  side: "dialler" | "acceptor",
  token: string | undefined,
  said: readonly Uint8Array[],
): Uint8Array {
  const hmac = lazyModules.crypto.createHmac("sha256", token ?? "").update(`viceroy ${side}`);
  for (const bytes of said) hmac.update(bytes);
  return hmac.digest();
}

/** Compares two proofs in constant time. */
export function isSameProof(given: Uint8Array, expected: Uint8Array): boolean {
  return given.length === expected.length && lazyModules.crypto.timingSafeEqual(given, expected);
}
