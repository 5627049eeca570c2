/**
 * Headers of safetensors files: the tensors of a file and the offsets of their elements. A file starts with the length of the
 * header (8 bytes, little-endian), followed by the header as JSON and the elements. https://huggingface.co/docs/safetensors
 */

import type { Dtype } from "../argument-types.js";
import { elementSize } from "../value/typed-array.js";
import { HeaderText } from "./header-text.js";

/** The size in bytes of the header's length. */
export const PREFIX_BYTES = 8;
/**
 * The largest size of a header in bytes, which is enough for 100,000 tensors. Python's library accepts 100 MB; parsing that would
 * block the event loop for many seconds.
 */
export const MAX_HEADER_BYTES = 16 << 20;
/** The largest number of dimensions that operations of libtorch support. */
const MAX_DIMENSIONS = 64;
/** The key of the metadata of a file. */
const METADATA = "__metadata__";

export interface TensorEntry {
  readonly dtype: Dtype;
  /** The size of each dimension, the outermost first. */
  readonly shape: readonly number[];
  /** The byte offset of the first element, from the end of the header. */
  readonly begin: number;
  readonly end: number;
}

export interface SafetensorsHeader {
  readonly metadata: Readonly<Record<string, string>>;
  /** The entries by the names of the tensors. The object has no prototype, since names are arbitrary. */
  readonly entries: Readonly<Record<string, TensorEntry>>;
}

/**
 * The names of the types in the format. Files contain elements in the order of this list, so that all elements are aligned.
 * Types that the format or libtorch 1.13 lacks are missing.
 */
const formatNames = {
  int64: "I64",
  float64: "F64",
  float32: "F32",
  int32: "I32",
  bfloat16: "BF16",
  float16: "F16",
  int16: "I16",
  int8: "I8",
  uint8: "U8",
  bool: "BOOL",
} as const satisfies Partial<Record<Dtype, string>>;
const dtypeOrder = Object.keys(formatNames) as (keyof typeof formatNames)[];
const dtypesByFormatName = new Map<string, Dtype>(dtypeOrder.map((dtype) => [formatNames[dtype], dtype]));

/**
 * Parses a header.
 *
 * @throws {Error | SyntaxError} when it is invalid; the message does not contain the file name
 */
export function readHeader(bytes: Uint8Array, elements: number): SafetensorsHeader {
  const text = new HeaderText(decodeUtf8(bytes));
  let metadata: Record<string, string> | undefined;
  const entries: Record<string, TensorEntry> = Object.create(null);
  text.readObject(
    (key) => (key === METADATA ? metadata !== undefined : key in entries),
    (key) => {
      if (key === METADATA) metadata = readMetadata(text);
      else entries[key] = readEntry(text, key);
    },
  );
  text.expectEnd();
  checkOffsets(entries, elements);
  return { metadata: metadata ?? Object.create(null), entries };
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new SyntaxError("its header is not UTF-8");
  }
}

function readMetadata(text: HeaderText): Record<string, string> {
  const metadata: Record<string, string> = Object.create(null);
  text.readObject(
    (key) => key in metadata,
    (key) => {
      metadata[key] = text.readString();
    },
  );
  return metadata;
}

function readEntry(text: HeaderText, key: string): TensorEntry {
  const name = JSON.stringify(key);
  const fields: { dtype?: string; shape?: number[]; data_offsets?: number[] } = {};
  text.readObject(
    (field) => Object.hasOwn(fields, field),
    (field) => {
      if (field === "dtype") fields.dtype = text.readString();
      else if (field === "shape") fields.shape = text.readIntegers(MAX_DIMENSIONS);
      else if (field === "data_offsets") fields.data_offsets = text.readIntegers(2);
      else throw new SyntaxError(`tensor ${name} has a field ${JSON.stringify(field)} that the format does not have`);
    },
  );
  const { dtype: type, shape, data_offsets: offsets } = fields;
  if (type === undefined || shape === undefined || offsets === undefined) {
    throw new SyntaxError(`tensor ${name} lacks dtype, shape or data_offsets`);
  }
  const dtype = dtypesByFormatName.get(type);
  if (dtype === undefined) {
    throw new TypeError(
      `tensor ${name} has the dtype ${JSON.stringify(type)}: expected one of ${[...dtypesByFormatName.keys()].join(", ")}`,
    );
  }
  const [begin, end] = offsets;
  if (begin === undefined || end === undefined || end < begin) {
    throw new RangeError(`tensor ${name} has the offsets [${offsets.join(", ")}]: expected its begin and its end`);
  }
  // A tensor without elements is checked, too, since its strides are computed from the sizes.
  const most = shape.reduce((product, size) => product * Math.max(size, 1), elementSize(dtype));
  if (most > Number.MAX_SAFE_INTEGER) throw new RangeError(`tensor ${name} has a shape that no memory could hold`);
  const bytes = shape.reduce((product, size) => product * size, elementSize(dtype));
  if (end - begin !== bytes) {
    throw new RangeError(
      `tensor ${name} has ${end - begin} bytes: ${type} of shape [${shape.join(", ")}] has ${bytes}`,
    );
  }
  return { dtype, shape, begin, end };
}

/** Refuses overlapping tensors and gaps: each byte belongs to exactly one tensor. */
function checkOffsets(entries: Readonly<Record<string, TensorEntry>>, elements: number): void {
  const inOrder = Object.entries(entries).sort(([, a], [, b]) => a.begin - b.begin || a.end - b.end);
  let at = 0;
  for (const [name, { begin, end }] of inOrder) {
    if (begin !== at) {
      const why = begin < at ? "overlaps with the one before" : "leaves a gap after the one before";
      throw new RangeError(`tensor ${JSON.stringify(name)} begins at ${begin}, and ${why}, which ends at ${at}`);
    }
    at = end;
  }
  if (at !== elements) throw new RangeError(`its tensors have ${at} bytes, and ${elements} bytes follow its header`);
}

/**
 * Assigns offsets to tensors, ordered by type and then by name, as the library of the format does.
 *
 * @throws {TypeError} when a name or a type is not possible in a file
 */
export function layOutTensors(
  tensors: readonly { readonly name: string; readonly dtype: Dtype; readonly shape: readonly number[] }[],
): [name: string, entry: TensorEntry][] {
  const rank = (dtype: Dtype) => dtypeOrder.indexOf(dtype as keyof typeof formatNames);
  for (const { name, dtype } of tensors) {
    if (name === METADATA || !name.isWellFormed()) {
      throw new TypeError(
        `cannot save a tensor with the name ${JSON.stringify(name)}: safetensors files cannot have it`,
      );
    }
    if (rank(dtype) < 0) {
      throw new TypeError(
        `cannot save tensor ${JSON.stringify(name)}: safetensors files have no ${dtype}, only ${dtypeOrder.join(", ")}`,
      );
    }
  }
  const sorted = tensors.toSorted(
    (a, b) => rank(a.dtype) - rank(b.dtype) || Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)),
  );
  let begin = 0;
  return sorted.map(({ name, dtype, shape }) => {
    const entry = {
      dtype,
      shape,
      begin,
      end: shape.reduce((product, size) => product * size, elementSize(dtype)) + begin,
    };
    begin = entry.end;
    return [name, entry];
  });
}

/** Returns the length and the header as bytes, padded so that the elements are aligned. */
export function writeHeader(
  tensors: readonly (readonly [name: string, entry: TensorEntry])[],
  metadata: Readonly<Record<string, string>>,
): Buffer {
  const parts = tensors.map(([name, { dtype, shape, begin, end }]) => {
    const type = formatNames[dtype as keyof typeof formatNames];
    return `${JSON.stringify(name)}:${JSON.stringify({ dtype: type, shape, data_offsets: [begin, end] })}`;
  });
  if (Object.keys(metadata).length > 0) parts.unshift(`${JSON.stringify(METADATA)}:${JSON.stringify(metadata)}`);
  const text = Buffer.from(`{${parts.join(",")}}`);
  const padded = Math.ceil(text.length / 8) * 8;
  if (padded > MAX_HEADER_BYTES) {
    throw new RangeError(`cannot save tensors: their header has ${padded} bytes, more than ${MAX_HEADER_BYTES}`);
  }
  const header = Buffer.alloc(PREFIX_BYTES + padded, " ");
  header.writeBigUInt64LE(BigInt(padded));
  text.copy(header, PREFIX_BYTES);
  return header;
}
