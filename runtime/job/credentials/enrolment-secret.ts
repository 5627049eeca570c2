/** The secrets with which hosts get their first certificate. A provider hands each host one, on its own safe way. */
import { randomBytes } from "node:crypto";
import { readSecretFile, writeSecretFile } from "./secret-files.js";

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

/**
 * Writes secrets to a file that only this user can read: a line for each host, with its identity and its secret.
 * @param secrets the secrets by the URIs of identities
 * @throws Error if the file cannot be written
 */
export function writeSecrets(file: string, secrets: Readonly<Record<string, string>>): void {
  writeSecretFile(
    file,
    Object.entries(secrets)
      .map((pair) => `${pair.join(" ")}\n`)
      .join(""),
  );
}

/**
 * Reads the secrets of a file.
 * @throws Error if the file cannot be read, is malformed, or other users can read it
 */
export function readSecrets(file: string): Record<string, string> {
  const lines = readSecretFile(file).split("\n");
  const pairs = lines.filter((line) => line !== "").map((line) => line.split(" "));
  if (pairs.every(({ length }) => length === 2)) return Object.fromEntries(pairs) as Record<string, string>;
  throw new Error(`cannot use the secrets in ${file}: expected an identity and a secret on each line`);
}

/**
 * Reads the secret of one host.
 * @throws Error if the file cannot be read, is malformed, other users can read it, or it has no secret for the host
 */
export function readSecretOf(uri: string, file: string): Uint8Array {
  const secret = readSecrets(file)[uri];
  if (secret === undefined) throw new Error(`cannot use the secrets in ${file}: there is none for ${uri}`);
  return parseEnrolmentSecret(secret, file);
}
