/**
 * The layout of the record in which the processes of one context write what its large values use on one host.
 *
 * The record begins with the id of the context, in 16 bytes. Three words follow: the limits of memory and disk in bytes, and the number of
 * slots that have been in use. At 56 bytes, a word tells the record from others. Then each process has a slot of 8 words: its id, its bytes in
 * memory and on disk, the number of its values, and the number of those on disk. A word has 64 bits.
 */

export const RECORD_BYTES = 65_536;
export const SLOT_WORDS = 8;
export const CONTEXT_BYTES = 16;
/** The numbers of words in the head of the record. */
export const HEAD = { memoryLimit: 2, diskLimit: 3, usedSlots: 4, kind: 7 } as const;
/** The word `kind`: "objects". */
export const OBJECTS = 0x73_7463_656a_626fn;
/** The numbers of words in a slot. */
export const SLOT = { pid: 0, memory: 1, disk: 2, values: 3, spilled: 4 } as const;

/** The use of memory and disk, in bytes. */
export interface Usage {
  readonly memory: number;
  readonly disk: number;
  /** The number of values, and that of those on disk. */
  readonly values: number;
  readonly spilled: number;
  /** The number of processes that have values. */
  readonly processes: number;
}

/** Returns the use of all processes. */
export function totalUsage(words: BigInt64Array): Usage {
  const sum = { memory: 0, disk: 0, values: 0, spilled: 0, processes: 0 };
  const read = (word: number) => Number(Atomics.load(words, word));
  const slots = Math.min(read(HEAD.usedSlots), words.length / SLOT_WORDS - 1);
  for (let slot = 1; slot <= slots; slot++) {
    const first = slot * SLOT_WORDS;
    const values = read(first + SLOT.values);
    if (values > 0) sum.processes++;
    sum.values += values;
    sum.memory += read(first + SLOT.memory);
    sum.disk += read(first + SLOT.disk);
    sum.spilled += read(first + SLOT.spilled);
  }
  return sum;
}
