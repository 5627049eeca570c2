/**
 * Decodes altered and random bytes, and fails on an error that is not a CodecError, on bytes that decode but do not encode again,
 * and on a polluted prototype: `node fuzz-child.mjs <count> <seed>`. Prints how many were decoded and refused.
 */
import {
  decodePlain,
  encodePlain,
  encodePlainParts,
  type RefReader,
  type RefWriter,
} from "../../../runtime/tasks/values/index.js";
import { randomNumbers } from "../../random.js";

class Ref {}
const refs: RefReader & RefWriter = {
  isRef: (value) => value instanceof Ref,
  write: () => Uint8Array.of(1),
  read: () => new Ref(),
};
const place = { kind: "put" } as const;

const [count, seed] = process.argv.slice(2).map(Number) as [number, number];
const numbers = randomNumbers(seed);
const below = (limit: number): number => Math.floor(numbers() * limit);

const samples = [
  { id: 1, name: "x", list: [1, 2.5, -7, "日本", undefined, null, true], nested: { a: { b: [[]] } } },
  new Map<unknown, unknown>([
    [1, new Set(["a", 2n ** 70n, -5n])],
    [new Date(5), new Float64Array(3)],
  ]),
  [new ArrayBuffer(5), new DataView(new ArrayBuffer(3)), new BigInt64Array(2), new Uint8Array(40)],
  JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}') as unknown,
  Array.from({ length: 20 }, (_, i) => i / 3),
  ["x".repeat(50), "é".repeat(50), "日".repeat(50), new Ref(), Object.create(null) as unknown],
].map((value) => encodePlain(value, place, refs));
// A value with large binary values, which begin on pages of their own.
const large = { before: 1, bytes: [new Uint8Array(70_000), new Float64Array(9000)], after: "x" };
samples.push(new Uint8Array(Buffer.concat(encodePlainParts(large, place, refs) as readonly Uint8Array[])));

function nextBytes(): Uint8Array {
  if (below(4) === 0)
    return Uint8Array.from({ length: below(40) }, () => (below(2) === 0 ? below(256) : 0x80 + below(0x58)));
  const bytes = (samples[below(samples.length)] as Uint8Array).slice();
  for (let edits = 1 + below(3); edits > 0; edits--) {
    const at = below(bytes.length);
    const kind = below(4);
    if (kind === 0) bytes[at] = below(256);
    else if (kind === 1) bytes[at] = (bytes[at] as number) ^ (1 << below(8));
    else if (kind === 2) bytes.copyWithin(at, below(bytes.length));
    else return bytes.subarray(0, at);
  }
  return bytes;
}

const result = { decoded: 0, refused: 0 };
for (let i = 0; i < count; i++) {
  const bytes = nextBytes();
  try {
    const value = decodePlain(bytes, refs);
    decodePlain(encodePlain(value, place, refs), refs);
    result.decoded++;
  } catch (error) {
    if ((error as Error).name !== "CodecError") {
      throw new Error(`case ${i} of seed ${seed}: ${Buffer.from(bytes).toString("hex")}`, { cause: error });
    }
    result.refused++;
  }
  if ("polluted" in {}) throw new Error(`case ${i} of seed ${seed} polluted Object.prototype`);
}
process.stdout.write(JSON.stringify(result));
