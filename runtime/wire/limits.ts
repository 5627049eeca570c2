/** Constants of the lockstep layout (docs/reference/lockstep-layout.md) and of the memory it is written in. */

/** The slot of a length below this value contains the length. The value itself means that four bytes of length follow. */
export const LONG_LENGTH_MARK = 255;

/** A chunk of the string heap with more UTF-16 units than this contains only one string. */
export const MAX_CHUNK_UNITS = 8192;

/** Bytes and typed arrays of at least this size in bytes are separate blocks, which are never copied into a batch. */
export const MIN_BLOCK_BYTES = 32 * 1024;

/** The largest depth of values of recursive types. */
export const MAX_DEPTH = 256;

/** The largest size in bytes of a batch, and of a message without its blocks. Positions stay small integers in V8. */
export const MAX_MESSAGE_BYTES = 0x7fff_fff8;

/** The size in bytes of a writer's page, which the largest batch of a link fits into with a message of 32 KiB. */
export const STANDARD_PAGE_BYTES = 256 * 1024;

/**
 * The largest number of bytes of unused pages that a thread keeps, for each page size. A message to many links needs a page
 * for each link, and allocating new ones would trigger the garbage collector often. The operating system allocates no memory
 * for parts of a page that were never written.
 */
export const MAX_RECYCLED_BYTES = 64 * STANDARD_PAGE_BYTES;

/** Encoded messages of at least this size in bytes take the writer's memory with them, because a copy would take longer. */
export const MIN_DETACHED_BYTES = 1024 * 1024;

/** A batch keeps a page of at most this size in bytes when it is released. */
export const MAX_KEPT_PAGE_BYTES = 2 * 1024;

/** The largest number of pages that a writer has handed over and expects back. */
export const MAX_LENT_PAGES = 4;
