/**
 * Encodes the values of ASN.1 that certificates consist of, by the distinguished encoding rules (DER, ITU-T X.690). It only
 * writes: Node.js reads certificates.
 */

/** The tags of universal types, with the bit of constructed values where it belongs. */
const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** The bits of the tags that the context of a value defines, such as `[3]`. */
const contextBits = 0x80;
const constructedBit = 0x20;

/** Returns a value: its tag, the number of its bytes, and its bytes. */
function value(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag, ...lengthOf(body.length)]), body]);
}

/** Returns a length in its shortest form: one byte below 128, otherwise the number of its bytes and these. */
function lengthOf(length: number): number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest >>>= 8) bytes.unshift(rest & 0xff);
  return [0x80 | bytes.length, ...bytes];
}

export function sequence(...values: readonly Uint8Array[]): Buffer {
  return value(tags.sequence, ...values);
}

/** Returns a set of one value. Several ones would have to be in order. */
export function setOf(member: Uint8Array): Buffer {
  return value(tags.set, member);
}

/** The value true. False is never written, because it is the default of all fields of certificates. */
export const derTrue: Uint8Array = value(tags.boolean, Buffer.from([0xff]));

/** @param bytes a number, most significant byte first: its first bit is 0, and it has no byte too many */
export function integer(bytes: Uint8Array): Buffer {
  return value(tags.integer, bytes);
}

/** @param unused the number of bits at the end of the last byte that do not belong to the value */
export function bitString(bytes: Uint8Array, unused = 0): Buffer {
  return value(tags.bitString, Buffer.from([unused]), bytes);
}

export function octetString(bytes: Uint8Array): Buffer {
  return value(tags.octetString, bytes);
}

export function utf8String(text: string): Buffer {
  return value(tags.utf8String, Buffer.from(text));
}

/** @param id numbers with dots between them, such as `2.5.4.3` */
export function objectIdentifier(id: string): Buffer {
  const [first = 0, second = 0, ...others] = id.split(".").map(Number);
  return value(tags.objectIdentifier, Buffer.from([first * 40 + second, ...others].flatMap(base128)));
}

/** Returns a number in groups of seven bits. The first bit of each byte tells whether another one follows. */
function base128(number: number): number[] {
  const bytes = [number & 0x7f];
  for (let rest = number >>> 7; rest > 0; rest >>>= 7) bytes.unshift(0x80 | (rest & 0x7f));
  return bytes;
}

/**
 * Returns a time in whole seconds. Certificates have two digits of the year until 2049, and four from then on (RFC 5280,
 * section 4.1.2.5).
 * @param ms the time in milliseconds since 1970
 */
export function time(ms: number): Buffer {
  const date = new Date(ms);
  const digits = `${date.toISOString().replaceAll(/[-:T]|\.\d+Z$/g, "")}Z`;
  if (date.getUTCFullYear() >= 2050) return value(tags.generalizedTime, Buffer.from(digits));
  return value(tags.utcTime, Buffer.from(digits.slice(2)));
}

/** Returns a value whose meaning follows from its number in the structure around it, and which contains further values. */
export function taggedValues(number: number, ...values: readonly Uint8Array[]): Buffer {
  return value(contextBits | constructedBit | number, ...values);
}

/** Like {@link taggedValues}, for plain bytes. */
export function taggedBytes(number: number, bytes: Uint8Array): Buffer {
  return value(contextBits | number, bytes);
}
