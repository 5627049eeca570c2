/** Bytes in the JSON mapping: base64 (RFC 4648). Writing uses the standard alphabet with padding; reading accepts both alphabets. */

const standard = /^[A-Za-z0-9+/]*={0,2}$/;
const urlSafe = /^[A-Za-z0-9_-]*={0,2}$/;

export function formatBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** Decodes base64. Returns undefined for invalid text. Padding may be missing, but must not be wrong. */
export function parseBase64(text: string): Uint8Array | undefined {
  if (!standard.test(text) && !urlSafe.test(text)) return undefined;
  const rest = text.length % 4;
  if (text.endsWith("=") ? rest !== 0 : rest === 1) return undefined;
  return new Uint8Array(Buffer.from(text, "base64"));
}
