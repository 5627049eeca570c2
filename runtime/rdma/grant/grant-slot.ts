/**
 * The layout of the slots of a grant table, which its owner writes and peers read. Each slot has 512 bytes, as in
 * native/rdma/transfer/slot.h. Slot 0 identifies the owner of the table.
 */
export const SLOT_BYTES = 512;
export const SLOT_HEAD_BYTES = 64;
/** Number of slots of a table, including slot 0. A table takes 32 MiB of address space; only used pages take memory. */
export const SLOT_COUNT = 65_536;
export const TABLE_BYTES = SLOT_COUNT * SLOT_BYTES;

/** Indexes of the 64-bit words in the head of a slot. */
export const SlotWord = {
  nonce: 0,
  word: 2,
  rights: 3,
  address: 4,
  length: 5,
  memory: 6,
  offset: 7,
  writers: 8,
} as const;
/** Indexes of the 64-bit words in slot 0. */
export const TableWord = { magic: 0, pid: 1, started: 2, machine: 3, address: 4 } as const;
export const WORDS_PER_SLOT = SLOT_BYTES / 8;
export const WRITER_CELLS = 28;

/** The bytes of "viceroy1". */
export const TABLE_MAGIC = 0x3179_6f72_6563_6976n;

export const GrantState = { free: 0, live: 1, revoked: 2, dropped: 3 } as const;
export type GrantState = (typeof GrantState)[keyof typeof GrantState];

export function stateWord(generation: number, state: GrantState): bigint {
  return (BigInt(generation) << 32n) | BigInt(state);
}

export function generationOf(word: bigint): number {
  return Number(word >> 32n);
}

export function stateOf(word: bigint): GrantState {
  return Number(word & 0xffff_ffffn) as GrantState;
}

/**
 * Returns the word that identifies the file of mappable memory. It contains a serial number besides the descriptor,
 * because the system reuses descriptors.
 */
export function memoryWord(serial: number, fd: number): bigint {
  return (BigInt(serial) << 32n) | BigInt(fd + 1);
}

/** Returns the descriptor of the file of granted memory, or undefined if the memory cannot be mapped. */
export function memoryFdOf(memory: bigint): number | undefined {
  const fd = Number(memory & 0xffff_ffffn);
  return fd === 0 ? undefined : fd - 1;
}
