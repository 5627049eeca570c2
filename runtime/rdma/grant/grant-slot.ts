/**
 * The slots of a table of grants, as its owner writes them and peers read them; 512 bytes each, as in native/rdma/transfer/slot.h. Slot 0 says
 * whose table it is.
 */
export const SLOT_BYTES = 512;
export const SLOT_HEAD_BYTES = 64;
/** Slots of a table, the first included: 32 MiB of address space, of which only what is used takes memory. */
export const SLOT_COUNT = 65_536;
export const TABLE_BYTES = SLOT_COUNT * SLOT_BYTES;

/** Words of the head of a slot. */
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
/** Words of slot 0. */
export const TableWord = { magic: 0, pid: 1, started: 2, machine: 3, address: 4 } as const;
export const WORDS_PER_SLOT = SLOT_BYTES / 8;
export const WRITER_CELLS = 28;

/** "viceroy1" */
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

/** The file of memory that can be mapped, and which of all that this process has ever had: descriptors come again. */
export function memoryWord(serial: number, fd: number): bigint {
  return (BigInt(serial) << 32n) | BigInt(fd + 1);
}

/** @returns undefined: it cannot be mapped */
export function memoryFdOf(memory: bigint): number | undefined {
  const fd = Number(memory & 0xffff_ffffn);
  return fd === 0 ? undefined : fd - 1;
}
