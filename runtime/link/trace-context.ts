/**
 * Traces in the form of W3C Trace Context. All messages that follow from one message share a trace id of 128 bits; each
 * message that is handled has a span id of 64 bits. This file creates, parses and formats the ids; it records nothing.
 */
import type { Random } from "./clock.js";

/** The trace of a message, and the span of its sender, as words of 32 bits, highest first. */
export class TraceContext {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;
  readonly high: number;
  readonly low: number;
  /** The flags of the specification. Bit 0 says that the trace is recorded. */
  readonly flags: number;

  constructor(a: number, b: number, c: number, d: number, high: number, low: number, flags: number) {
    this.a = a;
    this.b = b;
    this.c = c;
    this.d = d;
    this.high = high;
    this.low = low;
    this.flags = flags;
  }

  /** The trace id as 32 hexadecimal digits. */
  get id(): string {
    return wordToHex(this.a) + wordToHex(this.b) + wordToHex(this.c) + wordToHex(this.d);
  }

  /** The span id as 16 hexadecimal digits. */
  get span(): string {
    return wordToHex(this.high) + wordToHex(this.low);
  }

  /** Formats the trace as the value of the HTTP header `traceparent`. */
  toString(): string {
    return `00-${this.id}-${this.span}-${this.flags.toString(16).padStart(2, "0")}`;
  }
}

const traceparentPattern = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/**
 * Parses a `traceparent` header.
 * @returns undefined if the text is not a valid `traceparent`
 */
export function parseTraceparent(text: string): TraceContext | undefined {
  const [, version, id, span, flags, more] = traceparentPattern.exec(text) ?? [];
  // Later versions may have more fields. The version ff is invalid.
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (/^0*$/.test(id!) || /^0*$/.test(span!)) return undefined;
  const words = `${id}${span}`.match(/.{8}/g)!.map((word) => Number.parseInt(word, 16));
  const [a, b, c, d, high, low] = words as [number, number, number, number, number, number];
  return new TraceContext(a, b, c, d, high, low, Number.parseInt(flags!, 16));
}

/** Generates the trace and span ids of one process. */
export class TraceSource {
  readonly #random: Random;
  /** The state of sfc32, a fast random number generator by Chris Doty-Humphrey, which is seeded from `Random`. */
  #state: Uint32Array | undefined;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Starts a trace. */
  newTrace(): TraceContext {
    return new TraceContext(
      this.#nextWord(),
      this.#nextWord(),
      this.#nextWord(),
      this.#nextWord() || 1,
      ...this.#newSpanWords(),
      0,
    );
  }

  /** Starts a span of a trace. */
  newSpan({ a, b, c, d, flags }: TraceContext): TraceContext {
    return new TraceContext(a, b, c, d, ...this.#newSpanWords(), flags);
  }

  #newSpanWords(): [number, number] {
    return [this.#nextWord(), this.#nextWord() || 1];
  }

  #nextWord(): number {
    this.#state ??= this.#seed();
    const s = this.#state;
    const word = (s[0]! + s[1]! + s[3]!) >>> 0;
    s[3] = s[3]! + 1;
    s[0] = s[1]! ^ (s[1]! >>> 9);
    s[1] = s[2]! + (s[2]! << 3);
    s[2] = ((s[2]! << 21) | (s[2]! >>> 11)) + word;
    return word;
  }

  #seed(): Uint32Array {
    const [one, two] = [this.#random.id(), this.#random.id()];
    const words = new BigUint64Array([one, two]);
    return new Uint32Array(words.buffer);
  }
}

function wordToHex(word: number): string {
  return word.toString(16).padStart(8, "0");
}

/**
 * Returns whether a text is a valid value of the header `traceparent` of W3C Trace Context.
 *
 * @param text the text to check
 */
export function isTraceparent(text: string): boolean {
  return parseTraceparent(text) !== undefined;
}
