/** Constants of the lockstep layout (docs/reference/lockstep-layout.md) and of the memory it is written in. */

/** Lengths below this are their slot's one byte; it stands for "four bytes of length follow". */
export const LONG_LENGTH_MARK = 255;

/** A chunk of the string heap with more UTF-16 units than this holds one string alone. */
export const MAX_CHUNK_UNITS = 8192;

/** Bytes and typed arrays from this size in bytes on are blocks of their own, never copied into a batch. */
export const MIN_BLOCK_BYTES = 32 * 1024;

/** Values of recursive types nest at most this deep. */
export const MAX_DEPTH = 256;

/** Bytes of a batch, and so of a message without its blocks: positions stay small integers. */
export const MAX_MESSAGE_BYTES = 0x7fff_fff8;

/** Bytes of a writer's page: a link flushes when a batch is larger. */
export const STANDARD_PAGE_BYTES = 128 * 1024;

/**
 * Bytes of pages, of each size, that a thread keeps for taking them again: a page for each link that a message goes to at once, since
 * new ones make the garbage collector run again and again. What was never written in a page takes no memory.
 */
export const MAX_RECYCLED_BYTES = 128 * STANDARD_PAGE_BYTES;

/** Pages that were handed over and that a writer waits for. */
export const MAX_LENT_PAGES = 4;
