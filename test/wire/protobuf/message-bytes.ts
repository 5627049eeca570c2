/** Messages put together by hand. */

/** `08 96 01` as bytes. */
export function hex(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text.replaceAll(" ", ""), "hex"));
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts));
}

/** A varint of up to 32 bits. */
export function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Uint8Array.of(...bytes, rest);
}

/** A field of wire type 2. */
export function field(number: number, content: Uint8Array): Uint8Array {
  return concat(varint(number * 8 + 2), varint(content.length), content);
}

/** Returns the error of `step` as text. */
export function messageOf(step: () => unknown): string {
  try {
    step();
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
  return "nothing";
}
