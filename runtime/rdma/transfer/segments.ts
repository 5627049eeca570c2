/**
 * The segments of a transfer. A transfer copies a range, or an n-dimensional region whose rows are not adjacent in the
 * buffer or in the local view, such as a block of a matrix. Both become a list of segments, which are contiguous on
 * both sides.
 */
import { RdmaError } from "../errors.js";

/** A block of items in several dimensions, the outermost first. */
export interface Region {
  /** The number of items in each dimension. */
  readonly shape: readonly number[];
  /** The size of one item, in bytes. */
  readonly item: number;
  /** The distance of neighbouring items in each dimension of the buffer, in bytes. Default: items are contiguous. */
  readonly strides?: readonly number[];
  /**
   * The distance of neighbouring items in each dimension of the local view, in bytes. Default: items are contiguous.
   */
  readonly localStrides?: readonly number[];
}

export interface ByteRange {
  /** The first byte in the buffer, from 0. Default: 0. */
  readonly offset?: number;
  /** The number of bytes. Default: the size of the local view. */
  readonly length?: number;
}

export interface TransferSegments {
  /** Three words for each segment: the offset in the buffer, the offset in the local view, and the length. */
  readonly words: BigUint64Array;
  /** Number of bytes of all segments. */
  readonly bytes: number;
}

/** Maximum number of segments of one transfer. */
const MAX_SEGMENTS = 1 << 22;

/** Returns the single segment of a range. @throws RdmaError with `ERR_RDMA_BOUNDS` */
export function segmentsOfRange({ offset = 0, length }: ByteRange, size: number, local: number): TransferSegments {
  const bytes = length ?? local;
  checkBounds(offset, bytes, size, "the buffer");
  checkBounds(0, bytes, local, "the local view");
  return { words: BigUint64Array.of(BigInt(offset), 0n, BigInt(bytes)), bytes };
}

/** Returns the segments of a region. @throws RdmaError with `ERR_RDMA_BOUNDS` */
export function segmentsOfRegion(region: Region, offset: number, size: number, local: number): TransferSegments {
  const { shape, item } = region;
  const strides = region.strides ?? denseStrides(shape, item);
  const localStrides = region.localStrides ?? denseStrides(shape, item);
  const isShape = [item, ...shape].every((count) => Number.isSafeInteger(count) && count >= 0);
  const fits = strides.length === shape.length && localStrides.length === shape.length;
  if (
    !isShape ||
    !fits ||
    ![...strides, ...localStrides].every((stride) => Number.isSafeInteger(stride) && stride >= 0)
  ) {
    throw boundsError("a region needs sizes and strides of whole bytes, one of each for every dimension", region);
  }
  const bytes = shape.reduce((product, count) => product * count, item);
  checkBounds(offset, bytes === 0 ? 0 : spanInBytes(shape, strides, item), size, "the buffer");
  checkBounds(0, bytes === 0 ? 0 : spanInBytes(shape, localStrides, item), local, "the local view");
  if (bytes === 0) return { words: new BigUint64Array(0), bytes };
  return { words: enumerateSegments(shape, strides, localStrides, item, offset), bytes };
}

function denseStrides(shape: readonly number[], item: number): number[] {
  const strides: number[] = new Array(shape.length);
  let stride = item;
  for (let i = shape.length - 1; i >= 0; i--) {
    strides[i] = stride;
    stride *= shape[i]!;
  }
  return strides;
}

/** Returns the number of bytes from the first item to the end of the last one. */
function spanInBytes(shape: readonly number[], strides: readonly number[], item: number): number {
  return shape.reduce((sum, count, i) => sum + (count - 1) * strides[i]!, item);
}

function enumerateSegments(
  shape: readonly number[],
  strides: readonly number[],
  localStrides: readonly number[],
  item: number,
  offset: number,
): BigUint64Array {
  // Inner dimensions whose items are contiguous on both sides are merged into one item.
  let inner = shape.length;
  let length = item;
  while (
    inner > 0 &&
    (shape[inner - 1] === 1 || (strides[inner - 1] === length && localStrides[inner - 1] === length))
  ) {
    length *= shape[--inner]!;
  }
  const count = shape.slice(0, inner).reduce((product, size) => product * size, 1);
  if (count > MAX_SEGMENTS) throw boundsError(`a region of ${count} segments is too large for one transfer`, { shape });
  const words = new BigUint64Array(3 * count);
  const index = new Array<number>(inner).fill(0);
  let remote = offset;
  let local = 0;
  for (let at = 0; at < words.length; at += 3) {
    words[at] = BigInt(remote);
    words[at + 1] = BigInt(local);
    words[at + 2] = BigInt(length);
    for (let i = inner - 1; i >= 0; i--) {
      remote += strides[i]!;
      local += localStrides[i]!;
      if (++index[i]! < shape[i]!) break;
      index[i] = 0;
      remote -= strides[i]! * shape[i]!;
      local -= localStrides[i]! * shape[i]!;
    }
  }
  return words;
}

function checkBounds(offset: number, length: number, size: number, what: string): void {
  const isRange = [offset, length].every((count) => Number.isSafeInteger(count) && count >= 0);
  if (isRange && length <= size - offset) return;
  throw boundsError(`${length} bytes from ${offset} on are not within the ${size} of ${what}`);
}

function boundsError(why: string, got?: unknown): RdmaError {
  const rest = got === undefined ? "" : `, got ${JSON.stringify(got)}`;
  return new RdmaError("ERR_RDMA_BOUNDS", `cannot transfer: ${why}${rest}`);
}
