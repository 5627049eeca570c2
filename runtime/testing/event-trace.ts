/**
 * The events of a simulation: a hash, which shows whether two runs are equal, and on request lines of text for people.
 */
import { FNV1A_START, fnv1a } from "../../shared/hash/fnv1a.js";

const doubles = new Float64Array(1);
const words = new Uint32Array(doubles.buffer);

/** Collects the events of one run. */
export class EventTrace {
  /** The lines of text; undefined if only the hash is kept. */
  readonly lines: string[] | undefined;
  #low = FNV1A_START;
  #high = 0x1b873593;
  readonly #names = new Map<string, number>();

  constructor(recording: boolean) {
    this.lines = recording ? [] : undefined;
  }

  /** The hash of all noted events, in order: 16 hex digits. */
  get hash(): string {
    return [this.#high, this.#low].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
  }

  /**
   * Adds an event.
   * @param at milliseconds of virtual time
   * @param number a number that belongs to the event: bytes, a checksum
   * @param text additional text for people; it is not a part of the hash
   */
  note(at: number, who: string, what: string, number = 0, text?: () => string): void {
    doubles[0] = at;
    this.#mix(words[0]!);
    this.#mix(words[1]!);
    this.#mix(this.#numberOf(who));
    this.#mix(this.#numberOf(what));
    this.#mix(number);
    this.lines?.push(`${at.toFixed(3).padStart(12)} ${who} ${what}${text === undefined ? "" : ` ${text()}`}`);
  }

  #numberOf(name: string): number {
    let number = this.#names.get(name);
    if (number === undefined) {
      number = FNV1A_START;
      for (let i = 0; i < name.length; i++) number = fnv1a(number, name.charCodeAt(i));
      this.#names.set(name, number);
    }
    return number;
  }

  #mix(word: number): void {
    this.#low = fnv1a(this.#low, word);
    this.#high = Math.imul(this.#high ^ word ^ (this.#low >>> 15), 0x85ebca6b);
  }
}

/** Maximum number of bytes that a checksum reads. */
const MAX_SAMPLED_BYTES = 256;

/** Returns an FNV-1a checksum of bytes, or of a sample of them if there are many. */
export function checksum(bytes: Uint8Array): number {
  const step = Math.ceil(bytes.length / MAX_SAMPLED_BYTES);
  let sum = FNV1A_START ^ bytes.length;
  for (let i = 0; i < bytes.length; i += step) sum = fnv1a(sum, bytes[i]!);
  return sum;
}
