/**
 * How two sides show each other that they have the same token without sending it: an HMAC-SHA256, with the token as key,
 * over everything that was said, the fresh nonces of both included. What was recorded once proves nothing later.
 */
import { lazyModules } from "../../lazy-modules.js";
import type { Random } from "../clock.js";
import { NONCE_BYTES } from "./message.js";

/** The shortest token: 16 characters of base64 are 96 bits, out of reach of guessing. */
const MIN_TOKEN_LENGTH = 16;

/**
 * A token as a file or a variable holds it: what stands around it is no part of it.
 * @param source where it comes from, as errors name it
 * @throws TypeError if it could be guessed
 */
export function parseToken(text: string, source: string): string {
  const token = text.trim();
  if (token.length >= MIN_TOKEN_LENGTH) return token;
  throw new TypeError(
    `cannot use the token from ${source}: expected at least ${MIN_TOKEN_LENGTH} characters, got ${token.length}; ` +
      "make one with: openssl rand -base64 32",
  );
}

/** What makes this handshake unlike any other. */
export function createNonce(random: Random): Uint8Array {
  const words = new BigUint64Array(NONCE_BYTES / 8);
  for (let i = 0; i < words.length; i++) words[i] = random.id();
  return new Uint8Array(words.buffer);
}

/** @param said all messages so far, in order */
export function computeProof(
  side: "dialler" | "acceptor",
  token: string | undefined,
  said: readonly Uint8Array[],
): Uint8Array {
  const hmac = lazyModules.crypto.createHmac("sha256", token ?? "").update(`viceroy ${side}`);
  for (const bytes of said) hmac.update(bytes);
  return hmac.digest();
}

/** Takes as long for a proof that is nearly right as for any other. */
export function isSameProof(given: Uint8Array, expected: Uint8Array): boolean {
  return given.length === expected.length && lazyModules.crypto.timingSafeEqual(given, expected);
}
