/** The secrets with which hosts get their first certificate. A provider hands each host one, on its own safe way. */
import { randomBytes } from "node:crypto";

const SECRET_BYTES = 32;

/** Makes a secret of 32 random bytes, as 43 characters of base64url. */
export function createEnrolmentSecret(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}

/**
 * Reads a secret. White space around it is removed.
 * @param source the file or variable, for errors
 * @throws TypeError if the text is not a secret; its text does not contain the secret
 */
export function parseEnrolmentSecret(text: string, source: string): Uint8Array {
  const secret = text.trim();
  if (/^[\w-]{43}$/.test(secret)) return Buffer.from(secret, "base64url");
  throw new TypeError(
    `cannot use the secret from ${source}: expected 43 characters of base64url, got ${secret.length} characters`,
  );
}
