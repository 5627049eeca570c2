/** Writes lines of 100 bytes in a random order, as those of the sort benchmark: `make-lines.ts FILE SIZE [SEED]`. */
import { open } from "node:fs/promises";
import { bytesOf } from "./sizes.js";

const lineBytes = 100;
const linesAtOnce = 40_000;
const [file, size, seed = "1"] = process.argv.slice(2);
if (file === undefined || size === undefined) {
  console.error("usage: make-lines.ts FILE SIZE [SEED]");
  process.exit(2);
}
const count = Math.round(bytesOf(size) / lineBytes);
let state = Number(seed) | 0;

/** Returns the next number of 32 bits: mulberry32. */
function random(): number {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return (mixed ^ (mixed >>> 14)) >>> 0;
}

/** Each line has ten random characters, its number, and letters up to its length. */
const block = Buffer.alloc(lineBytes * linesAtOnce, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
const output = await open(file, "w");
for (let done = 0; done < count; ) {
  const lines = Math.min(linesAtOnce, count - done);
  for (let i = 0; i < lines; i++) {
    const at = i * lineBytes;
    for (let word = 0; word < 10; word += 5) {
      // 30 of the 32 bits: five characters of six bits, from " " to "_".
      let bits = random();
      for (let char = 0; char < 5; char++, bits >>>= 6) block[at + word + char] = 32 + (bits & 63);
    }
    block[at + 10] = 32;
    block.write(String(done + i).padStart(12, "0"), at + 11, "latin1");
    block[at + 23] = 32;
    block[at + lineBytes - 1] = 10;
  }
  await output.write(block, 0, lines * lineBytes);
  done += lines;
}
await output.close();
