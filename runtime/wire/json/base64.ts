/** Bytes in the JSON mapping: base64 (RFC 4648). Written with the standard alphabet and padding, read with either. */

const standard = /^[A-Za-z0-9+/]*={0,2}$/;
const urlSafe = /^[A-Za-z0-9_-]*={0,2}$/;

export function formatBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** The bytes that `text` stands for; undefined if it is no base64. Padding may be left out, but not be wrong. */
export function parseBase64(text: string): Uint8Array | undefined {
  if (!standard.test(text) && !urlSafe.test(text)) return undefined;
  const rest = text.length % 4;
  if (text.endsWith("=") ? rest !== 0 : rest === 1) return undefined;
  return new Uint8Array(Buffer.from(text, "base64"));
}
