/**
 * Reads messages in the lockstep layout from received bytes. One reader reads any number of messages. The bytes are not
 * trusted: every length is compared with the remaining bytes before memory is allocated.
 */
import { CodecRefusal } from "./codec-refusal.js";
import { LONG_LENGTH_MARK, MAX_CHUNK_UNITS, MAX_DEPTH, MIN_BLOCK_BYTES } from "./limits.js";
import type { MessageHandles } from "./message-handles.js";
import { readChunk } from "./string-heap.js";
import type { TypedArray, TypedArrayConstructor } from "./typed-array.js";

/** V8 keeps the bytes of arrays up to this size inside of the array, which takes less time than memory of their own. */
const MAX_INNER_BYTES = 64;

const noBytes = new Uint8Array(0);
const noView = new DataView(noBytes.buffer);

/** The part of a codec that reads a value from a slot. */
export interface SlotReader<T> {
  /** The number of bytes of the slot. */
  readonly slot: number;
  /** @param at byte offset of the slot, which has been checked */
  read(r: Reader, at: number): T;
}

/**
 * Reads messages in the lockstep layout, for generated code. One reader serves any number of messages. Every length is
 * checked before memory is allocated. In all methods, `at` is the byte offset of a slot, and `size` a number of bytes.
 */
export class Reader {
  /** The bytes that contain the message. */
  bytes: Uint8Array = noBytes;
  /** A view of the same bytes. */
  view: DataView = noView;
  /** The byte offset at which the next part of variable length is read. */
  position = 0;
  /** The byte offset at which parts of variable length end and the string heap starts. */
  end = 0;
  /** The number of recursive types around the current value. */
  depth = 0;
  /** Whether typed arrays refer to the given bytes instead of being copied. */
  views = false;
  /** Whether the message is in the protobuf layout. */
  protobuf = false;
  /** Whether this is the second attempt, which finds the field that an error is about. */
  tracing = false;
  /**
   * The codecs of handles that this message uses in place of the registered ones. Whoever sets it resets it after the
   * message.
   *
   * @internal
   */
  handles: MessageHandles | undefined = undefined;
  /** The current chunk of the string heap. */
  text = "";
  /** The number of UTF-16 units of `text` that have been read. */
  offset = 0;

  /** The blocks of the message, if they were received separately. */
  blocks: readonly Uint8Array[] | undefined;
  /** All bytes as elements of `#elementType`, kept for the next array of that class. */
  #elements: TypedArray | Uint8Array | undefined;
  #elementType: TypedArrayConstructor<TypedArray | Uint8Array> | undefined;
  /** The byte offset of the message. */
  #start = 0;
  /** The byte offset of the next chunk of text. */
  #heap = 0;
  #heapEnd = 0;
  /** The byte offset of the next block, or its index in `blocks`. */
  #block = 0;
  #blocksEnd = 0;

  /**
   * Starts to read a message.
   *
   * @param bytes that contain the message
   * @param view of the same bytes
   * @param start byte offset of the message; its address must be a multiple of 8 for typed arrays that are not copied
   * @param end byte offset of the end of the message, without separate blocks
   * @param blocks received separately, in order; the decoded value may keep their memory
   */
  reset(bytes: Uint8Array, view: DataView, start: number, end: number, blocks?: readonly Uint8Array[]): void {
    if (this.bytes !== bytes) this.#use(bytes, view);
    this.position = start;
    this.end = end;
    if (this.blocks !== blocks) this.blocks = blocks;
  }

  #use(bytes: Uint8Array, view: DataView): void {
    this.bytes = bytes;
    this.view = view;
    this.#elements = undefined;
  }

  /** Reserves the next `size` bytes, and returns their byte offset. */
  take(size: number): number {
    const at = this.position;
    const next = at + size;
    if (next > this.end) throw new CodecRefusal("the message ends too early");
    this.position = next;
    return at;
  }

  /** Reads a value whose slot is the next part of variable length. */
  next<T>(codec: SlotReader<T>): T {
    return codec.read(this, this.take(codec.slot));
  }

  /** Reads a string whose length is the next part of variable length. */
  string(): string {
    return this.getString(this.take(1));
  }

  /** Reads a length: one byte, or 255 followed by four bytes. */
  getLength(at: number): number {
    const n = this.view.getUint8(at);
    return n === LONG_LENGTH_MARK ? this.longLength() : n;
  }

  /** Reads the number of entries of a map, set or record. */
  getCount(at: number): number {
    return this.view.getUint32(at, true);
  }

  /** Reads a length whose slot holds 255. */
  longLength(): number {
    const length = this.view.getUint32(this.take(4), true);
    if (length < LONG_LENGTH_MARK) throw new CodecRefusal(`invalid length: ${length} in the long form`);
    return length;
  }

  /** Reads a string: its length from the slot, its text from the string heap. */
  getString(at: number): string {
    const units = this.getLength(at);
    const from = this.offset;
    const to = from + units;
    if (to > this.text.length) return this.#nextChunk(units);
    this.offset = to;
    return this.text.substring(from, to);
  }

  #nextChunk(units: number): string {
    this.text = this.nextText(this.offset, units);
    this.offset = units;
    return this.text.substring(0, units);
  }

  /**
   * Returns the next chunk of the string heap, which becomes `text`. Called when a string does not end in `text`.
   *
   * @param offset number of units of `text` that have been read
   * @param units length of the string
   */
  nextText(offset: number, units: number): string {
    const at = this.#heap;
    if (offset !== this.text.length) {
      // The first string of a chunk must fit into it.
      throw new CodecRefusal(
        offset === 0 ? "a chunk of text has the wrong size" : "a string crosses the end of a chunk of text",
      );
    }
    if (at + 4 > this.#heapEnd) throw new CodecRefusal("there is less text than strings need");
    const header = this.view.getUint32(at, true);
    const size = header >>> 1;
    const wide = (header & 1) === 1;
    // Wide text has an even offset in the message, and therefore usually an even address.
    const from = wide ? at + 4 + ((at - this.#start) & 1) : at + 4;
    const to = from + (wide ? size * 2 : size);
    if (to > this.#heapEnd) throw new CodecRefusal("a chunk of text ends outside the message");
    if (size < units || (size > MAX_CHUNK_UNITS && size !== units)) {
      throw new CodecRefusal("a chunk of text has the wrong size");
    }
    if (from !== at + 4 && this.bytes[at + 4] !== 0) throw new CodecRefusal("padding is not zero");
    this.#heap = to;
    this.text = readChunk(this.bytes, from, to, wide);
    return this.text;
  }

  /**
   * Returns the first chunk of the string heap if it is narrow and can hold several strings, as it is in most messages. Otherwise returns an
   * empty text: `nextText` reads the chunk, or refuses it, when a string needs it.
   *
   * Strings of the first chunk then need no `nextText`, which makes decoding a record 4 % faster (`npm run bench:codec`).
   */
  #firstText(at: number, end: number): string {
    if (at + 4 > end) return "";
    const header = this.view.getUint32(at, true);
    const size = header >>> 1;
    const to = at + 4 + size;
    if ((header & 1) === 1 || size === 0 || size > MAX_CHUNK_UNITS || to > end) return "";
    this.#heap = to;
    return readChunk(this.bytes, at + 4, to, false);
  }

  /** Reads a boolean. */
  getBoolean(at: number): boolean {
    const byte = this.view.getUint8(at);
    if (byte > 1) this.refuse();
    return byte === 1;
  }

  /** Reads a date: milliseconds since 1970 as a double. */
  getDate(at: number): Date {
    const time = this.view.getFloat64(at, true);
    const date = new Date(time);
    // A time out of range makes the date invalid, and a fraction would be lost.
    if (date.getTime() !== time) this.refuse();
    return date;
  }

  /** Reads a `number[]` that `putNumbers` wrote. */
  getNumbers(at: number): number[] {
    const n = this.getLength(at);
    if (n === 0) return [];
    this.align();
    const from = this.take(n * 8);
    const values = new Array<number>(n);
    const doubles = this.#elementsOf(Float64Array);
    if (doubles === undefined || (from & 7) !== 0) {
      for (let i = 0; i < n; i++) values[i] = this.view.getFloat64(from + i * 8, true);
      return values;
    }
    const first = from >> 3;
    let i = 0;
    for (; i + 3 < n; i += 4) {
      values[i] = doubles[first + i] as number;
      values[i + 1] = doubles[first + i + 1] as number;
      values[i + 2] = doubles[first + i + 2] as number;
      values[i + 3] = doubles[first + i + 3] as number;
    }
    for (; i < n; i++) values[i] = doubles[first + i] as number;
    return values;
  }

  /** Reads bytes that `putBytes` wrote. */
  getBytes(at: number): Uint8Array {
    const n = this.view.getUint32(at, true);
    if (n >= MIN_BLOCK_BYTES) return this.#nextBlock(Uint8Array, n, n);
    const from = this.take(n);
    return n <= MAX_INNER_BYTES && !this.views ? this.#copyFew(from, n) : this.#slice(Uint8Array, from, n, n);
  }

  /** Reads a typed array that `putTyped` wrote, of the class `type`. */
  getTyped<T extends TypedArray>(at: number, type: TypedArrayConstructor<T>): T {
    const n = this.view.getUint32(at, true);
    const size = n * type.BYTES_PER_ELEMENT;
    if (size >= MIN_BLOCK_BYTES) return this.#nextBlock(type, n, size);
    if (n > 0) this.align();
    return this.#slice(type, this.take(size), n, size);
  }

  /**
   * Sets a property of an object with arbitrary keys, `__proto__` included. Refuses a key that comes twice.
   *
   * @param key of the property
   */
  define(record: Record<string, unknown>, key: string, value: unknown): void {
    if (Object.hasOwn(record, key)) this.refuse();
    if (key === "__proto__") {
      Object.defineProperty(record, key, { value, writable: true, enumerable: true, configurable: true });
    } else {
      record[key] = value;
    }
  }

  /** Copies a few bytes: neither a view of them nor a native call is worth its cost. */
  #copyFew(from: number, n: number): Uint8Array {
    const { bytes } = this;
    const copy = new Uint8Array(n);
    for (let i = 0; i < n; i++) copy[i] = bytes[from + i] as number;
    return copy;
  }

  /** Returns a typed array over `[at, at + size)`, or a copy of it. */
  #slice<T extends TypedArray | Uint8Array>(type: TypedArrayConstructor<T>, at: number, n: number, size: number): T {
    const { buffer, byteOffset } = this.bytes;
    const from = byteOffset + at;
    if (this.views && from % type.BYTES_PER_ELEMENT === 0) return new type(buffer, from, n);
    const elements = at % type.BYTES_PER_ELEMENT === 0 ? this.#elementsOf(type) : undefined;
    if (elements === undefined) return new type(new Uint8Array(buffer, from, size).slice().buffer);
    const first = at / type.BYTES_PER_ELEMENT;
    return elements.slice(first, first + n) as T;
  }

  #nextBlock<T extends TypedArray | Uint8Array>(type: TypedArrayConstructor<T>, n: number, size: number): T {
    if (this.blocks === undefined) {
      const at = this.#block;
      this.#skipPadding(at, -(at - this.#start) & 7, this.#blocksEnd);
      const from = at + (-(at - this.#start) & 7);
      if (from + size > this.#blocksEnd) throw new CodecRefusal("a block ends outside the message");
      this.#block = from + size;
      return this.#slice(type, from, n, size);
    }
    const block = this.blocks[this.#block++];
    if (block === undefined || block.byteLength !== size)
      throw new CodecRefusal("a block is missing or has the wrong size");
    if (block.byteOffset % type.BYTES_PER_ELEMENT !== 0) return new type(block.slice().buffer);
    return new type(block.buffer, block.byteOffset, n);
  }

  /** Skips padding up to a multiple of 8 bytes from the start of the message. */
  align(): void {
    const size = -(this.position - this.#start) & 7;
    this.#skipPadding(this.position, size, this.end);
    this.position += size;
  }

  #skipPadding(at: number, size: number, end: number): void {
    if (at + size > end) throw new CodecRefusal("the message ends too early");
    for (let i = at; i < at + size; i++) if (this.bytes[i] !== 0) throw new CodecRefusal("padding is not zero");
  }

  /**
   * Returns all bytes as elements of the class `type`, or undefined if their address is not a multiple of an element's size.
   *
   * Keeps the array, because the messages of a batch have the same bytes: a view for each of them takes 5 % of decoding 1,024 doubles
   * (`npm run bench:codec`).
   */
  #elementsOf<T extends TypedArray | Uint8Array>(type: TypedArrayConstructor<T>): T | undefined {
    const { buffer, byteOffset, length } = this.bytes;
    if (byteOffset % type.BYTES_PER_ELEMENT !== 0) return undefined;
    if (this.#elements === undefined || this.#elementType !== type) {
      this.#elements = new type(buffer, byteOffset, Math.floor(length / type.BYTES_PER_ELEMENT));
      this.#elementType = type;
    }
    return this.#elements as T;
  }

  /** Enters a recursive type. Refuses more than the limit of levels. */
  enter(): void {
    if (++this.depth > MAX_DEPTH) throw new CodecRefusal(`nested deeper than ${MAX_DEPTH}`);
  }

  /** Leaves a recursive type. */
  leave(): void {
    this.depth--;
  }

  /** Refuses the message. A second attempt finds the field and the reason. */
  refuse(): never {
    throw new CodecRefusal();
  }

  /** Starts a message whose header and slot have `size` bytes, and returns its byte offset. */
  begin(size: number): number {
    const start = this.position;
    const next = start + size;
    if (next > this.end) this.#tooShort(size);
    this.position = next;
    this.#start = start;
    return start;
  }

  #refuseHeap(): never {
    throw new CodecRefusal("the string heap starts outside the message");
  }

  #tooShort(size: number): never {
    throw new CodecRefusal(`it takes at least ${size} bytes, got ${this.end - this.position}`);
  }

  /**
   * Reads from the header where the blocks start. Called before `openText`.
   *
   * @param start byte offset of the message
   */
  openBulk(start: number, at: number): void {
    const end = start + this.view.getUint32(at, true);
    if (end < this.position || end > this.end) throw new CodecRefusal("the blocks start outside the message");
    if (this.blocks !== undefined && end !== this.end)
      throw new CodecRefusal("blocks are both in the message and apart");
    this.#block = this.blocks === undefined ? end : 0;
    this.#blocksEnd = this.end;
    this.end = end;
  }

  /**
   * Reads from the header where the string heap starts.
   *
   * @param start byte offset of the message
   */
  openText(start: number): void {
    const heap = start + this.view.getUint32(start, true);
    const end = this.end;
    if (heap < this.position || heap > end) this.#refuseHeap();
    this.end = heap;
    this.#heap = heap;
    this.#heapEnd = end;
    this.text = this.#firstText(heap, end);
    this.offset = 0;
  }

  /**
   * Starts a message whose values can contain text but no blocks. Returns the byte offset of its slot.
   *
   * @param size of its header and slot
   */
  beginText(size: number): number {
    // This is `begin` and `openText` in one, which takes less of V8's budget for inlining than the two (decision 236).
    const start = this.position;
    const next = start + size;
    const end = this.end;
    if (next > end) this.#tooShort(size);
    const heap = start + this.view.getUint32(start, true);
    if (heap < next || heap > end) this.#refuseHeap();
    this.#start = start;
    this.position = next;
    this.end = heap;
    this.#heap = heap;
    this.#heapEnd = end;
    this.text = this.#firstText(heap, end);
    this.offset = 0;
    return start + 4;
  }

  /** Ends a message that `beginText` started, and returns its value. Refuses the message if something is left. */
  endText<T>(value: T): T {
    // One condition takes less of V8's budget for inlining than those of the two methods, which find the reason (decision 236).
    if (this.position !== this.end || this.offset !== this.text.length || this.#heap !== this.#heapEnd) {
      this.closeBody();
      this.closeText();
    }
    return value;
  }

  /** Ends a message without text and blocks, and returns its value. Refuses the message if something is left. */
  endBody<T>(value: T): T {
    this.closeBody();
    return value;
  }

  /** Refuses the message if bytes of the body are left. */
  closeBody(): void {
    if (this.position !== this.end) throw new CodecRefusal("there is more than the value needs");
  }

  /** Refuses the message if text is left. */
  closeText(): void {
    if (this.offset !== this.text.length || this.#heap !== this.#heapEnd) {
      throw new CodecRefusal("there is more text than strings need");
    }
  }

  /** Refuses the message if blocks are left. */
  closeBulk(): void {
    if (this.#block !== (this.blocks === undefined ? this.#blocksEnd : this.blocks.length)) {
      throw new CodecRefusal("there are more blocks than values need");
    }
  }
}
