/**
 * The layout of plain values. A value is one byte, its tag, and what follows from the tag. Lengths and counts are variable-length
 * integers (LEB128, at most five bytes), and numbers are little-endian. The layout is internal: all processes of a context run
 * the same version of Viceroy.
 *
 * | tag | value |
 * |---|---|
 * | 0x00-0x7f | the integer 0-127 |
 * | 0x80-0x9f | text of 0-31 units in Latin-1 |
 * | 0xa0-0xaf | an array of 0-15 values |
 * | 0xb0-0xbf | an object of 0-15 properties, each of them a text and a value |
 * | others | the constants below |
 */

export const TEXT = 0x80;
export const MAX_SHORT_TEXT = 31;
export const ARRAY = 0xa0;
export const OBJECT = 0xb0;
export const MAX_SHORT_COUNT = 15;

export const NULL = 0xc0;
export const UNDEFINED = 0xc1;
export const FALSE = 0xc2;
export const TRUE = 0xc3;
/** Four bytes. */
export const INT32 = 0xc4;
/** Eight bytes. */
export const DOUBLE = 0xc5;
/** Eight bytes: a bigint of 64 bits with a sign. */
export const BIGINT64 = 0xc6;
/** A length, and that many hexadecimal digits in ASCII, the first of which may be a minus sign. */
export const BIGINT = 0xc7;
/** A length, and that many bytes. */
export const LONG_LATIN1 = 0xc8;
/** A length in UTF-16 units, and two bytes for each of them. */
export const LONG_UTF16 = 0xc9;
/** A count, and that many values. */
export const LONG_ARRAY = 0xca;
/** A count, and eight bytes for each number. */
export const NUMBERS = 0xcb;
/** A count, and that many properties. */
export const LONG_OBJECT = 0xcc;
/** Like `LONG_OBJECT`, for an object whose prototype is null. */
export const NULL_OBJECT = 0xcd;
/** Eight bytes: milliseconds since 1970 as a double, NaN for an invalid date. */
export const DATE = 0xce;
/** A count, and that many pairs of values. */
export const MAP = 0xcf;
/** A count, and that many values. */
export const SET = 0xd0;
/** The index of the class in `binaryClasses`, a length, and that many bytes. */
export const BINARY = 0xd1;
/**
 * The index of the class in `binaryClasses`, a length, and four bytes: the number of the page of the encoded value at which the bytes
 * begin. They are after everything else, so that they can be mapped into memory instead of being copied.
 */
export const BINARY_APART = 0xd3;
/** A length, and the bytes of the reference, which this codec does not interpret. */
export const REFERENCE = 0xd2;

/** The largest number of objects, arrays, maps and sets inside each other. */
export const MAX_DEPTH = 256;
/** The largest size of an encoded value in bytes, so that positions stay small integers in V8. */
export const MAX_BYTES = 0x7fff_fff8;
/** The number of bytes of a page, which can be mapped by itself. */
export const PAGE_BYTES = 4096;
/** Binary values from this size on are apart, where the caller can store them so. */
export const MIN_APART_BYTES = 65_536;
/** The largest number of entries of a map or a set in V8. */
export const MAX_ENTRIES = 1 << 24;
/** The largest number of arguments of a task. */
export const MAX_ARGUMENTS = 0xffff;
