/**
 * Where a message is read from: a stretch of received bytes. One reader serves any number of messages. Nothing of what
 * it is given is trusted: every length is compared with what is left before anything is allocated for it.
 */
import type { Codec } from "./codec.js";
import { chunkUnits, longLength } from "./limits.js";
import { Malformed } from "./malformed.js";
import { readText } from "./text.js";

const nothing = new Uint8Array(0);
const nothingView = new DataView(nothing.buffer);

export class Reader {
  bytes: Uint8Array = nothing;
  view: DataView = nothingView;
  /** Where what varies is read next. */
  position = 0;
  /** End of the body: what varies ends here, the string heap starts. */
  end = 0;
  /** Where the message starts. */
  start = 0;
  /** End of the whole message. */
  limit = 0;

  /** The current chunk of the string heap, and how much of it has been cut. */
  text = "";
  offset = 0;
  /** Where the next chunk is, and the end of the heap. */
  heap = 0;
  heapEnd = 0;

  /** How deep in recursive types. */
  depth = 0;
  /** Whether typed arrays may look into the given bytes. */
  views = false;
  /** Blocks that came apart from the message. */
  blocks: readonly Uint8Array[] | undefined;
  block = 0;

  /**
   * Sets out to read one message.
   * @param view over the same memory as `bytes`
   * @param start of the message in `bytes`; a multiple of 8 if typed arrays are to be viewed in place
   * @param end of it, without blocks that came apart
   * @param blocks that came apart, in order: each with memory that the decoded value may keep
   */
  reset(bytes: Uint8Array, view: DataView, start: number, end: number, blocks?: readonly Uint8Array[]): void {
    this.bytes = bytes;
    this.view = view;
    this.start = start;
    this.position = start;
    this.end = end;
    this.limit = end;
    this.blocks = blocks;
  }

  /** The place of the next `size` bytes. */
  take(size: number): number {
    const at = this.position;
    const next = at + size;
    if (next > this.end) throw new Malformed("the message ends too early");
    this.position = next;
    return at;
  }

  /** Reads a value with its slot from what varies. */
  next<T>(codec: Codec<T>): T {
    return codec.read(this, this.take(codec.slot));
  }

  /** A string written by `w.string`. */
  string(): string {
    return this.cut(this.length(this.bytes[this.take(1)] as number));
  }

  /** The length that a one-byte slot with `n` stands for. */
  length(n: number): number {
    if (n !== longLength) return n;
    const length = this.view.getUint32(this.take(4), true);
    if (length < longLength) throw new Malformed(`length ${length} is written in its long form`);
    return length;
  }

  /** The next `units` UTF-16 units of the string heap. */
  cut(units: number): string {
    const from = this.offset;
    const to = from + units;
    if (to > this.text.length) return this.#nextChunk(units);
    this.offset = to;
    return this.text.substring(from, to);
  }

  #nextChunk(units: number): string {
    if (this.offset !== this.text.length) throw new Malformed("a string crosses the end of a chunk");
    const at = this.heap;
    if (at + 4 > this.heapEnd) throw new Malformed("there is less text than strings need");
    const header = this.view.getUint32(at, true);
    const size = header >>> 1;
    const wide = (header & 1) === 1;
    // The wide text is even from the message's start, which is even in memory in all but odd cases.
    const from = wide ? at + 4 + ((at - this.start) & 1) : at + 4;
    const to = from + (wide ? size * 2 : size);
    if (to > this.heapEnd) throw new Malformed("a chunk of text ends outside the message");
    if (size < units || (size > chunkUnits && size !== units))
      throw new Malformed("a chunk of text has the wrong size");
    if (from !== at + 4 && this.bytes[at + 4] !== 0) throw new Malformed("padding is not zero");
    this.heap = to;
    this.text = readText(this.bytes, from, to, wide);
    this.offset = units;
    return this.text.substring(0, units);
  }
}
