/**
 * SHA-256 (FIPS 180-4) of short texts, for fingerprints of composed codecs. It is written in TypeScript so that `wire/`
 * loads no crypto module at start-up. It is not meant for large inputs or secrets.
 */

interface Constants {
  readonly initial: readonly number[];
  readonly rounds: readonly number[];
}

/** They are computed on first use: most processes make no fingerprints. */
let constants: Constants | undefined;

/** Returns the first 8 bytes of the hash of `text` in UTF-8. */
export function sha256First64(text: string): bigint {
  constants ??= makeConstants();
  const { initial, rounds } = constants;
  const bytes = padMessage(new TextEncoder().encode(text));
  const view = new DataView(bytes.buffer);
  const state = Uint32Array.from(initial);
  for (let at = 0; at < bytes.length; at += 64) hashBlock(state, view, at, rounds);
  return (BigInt(state[0] as number) << 32n) | BigInt(state[1] as number);
}

function padMessage(bytes: Uint8Array): Uint8Array {
  const size = (bytes.length + 9 + 63) & ~63;
  const message = new Uint8Array(size);
  message.set(bytes);
  message[bytes.length] = 0x80;
  new DataView(message.buffer).setBigUint64(size - 8, BigInt(bytes.length) * 8n);
  return message;
}

function hashBlock(state: Uint32Array, view: DataView, at: number, rounds: readonly number[]): void {
  const w = new Int32Array(64);
  for (let i = 0; i < 16; i++) w[i] = view.getInt32(at + i * 4);
  const word = (i: number) => w[i] as number;
  for (let i = 16; i < 64; i++) {
    const s0 = rotateRight(word(i - 15), 7) ^ rotateRight(word(i - 15), 18) ^ (word(i - 15) >>> 3);
    const s1 = rotateRight(word(i - 2), 17) ^ rotateRight(word(i - 2), 19) ^ (word(i - 2) >>> 10);
    w[i] = word(i - 16) + s0 + word(i - 7) + s1;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let i = 0; i < 64; i++) {
    const s1 = rotateRight(e, 6) ^ rotateRight(e, 11) ^ rotateRight(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + (rounds[i] as number) + word(i)) | 0;
    const s0 = rotateRight(a, 2) ^ rotateRight(a, 13) ^ rotateRight(a, 22);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
  }
  for (const [i, value] of [a, b, c, d, e, f, g, h].entries()) state[i] = (state[i] as number) + value;
}

function rotateRight(x: number, n: number): number {
  return (x >>> n) | (x << (32 - n));
}

function makeConstants(): Constants {
  const primes = firstPrimes(64);
  const initial = primes.slice(0, 8).map((prime) => fractionBits(Math.sqrt(prime)));
  return { initial, rounds: primes.map((prime) => fractionBits(Math.cbrt(prime))) };
}

/** Returns the first 32 bits of the fraction. A double is precise enough for the roots of small primes. */
function fractionBits(root: number): number {
  return Math.floor((root - Math.floor(root)) * 2 ** 32);
}

function firstPrimes(count: number): readonly number[] {
  const found: number[] = [];
  for (let n = 2; found.length < count; n++) if (found.every((prime) => n % prime !== 0)) found.push(n);
  return found;
}
