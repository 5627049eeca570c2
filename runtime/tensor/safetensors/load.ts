/** Loads tensors from safetensors files. Files are not trusted: offsets are checked, and allocations are limited by the file size. */
import { type FileHandle, open } from "node:fs/promises";
import type { Device, Dtype, TensorData } from "../argument-types.js";
import { TensorError } from "../errors.js";
import { currentRecording } from "../operation/recording.js";
import { tensor, tensorOver } from "../value/create-tensor.js";
import { FILE_PART_BYTES } from "../value/size-limits.js";
import type { Tensor } from "../value/tensor.js";
import type { TensorDict } from "../value/tensor-dict.js";
import { TensorScope } from "../value/tensor-scope.js";
import { torch } from "../value/torch.js";
import { elementSize, typedArrayOver } from "../value/typed-array.js";
import { MAX_HEADER_BYTES, PREFIX_BYTES, readHeader, type SafetensorsHeader, type TensorEntry } from "./header.js";

/** The options of {@link loadTensors}. */
export interface LoadOptions {
  /** The names of the tensors to load. Default: all. */
  readonly names?: readonly string[];
  /** `"cpu"` loads the tensors into this process even if a mesh is active. Default: the active mesh, or this process. */
  readonly device?: Device;
}

/** The content of a safetensors file. */
export interface TensorFile {
  /** The metadata that the author of the file has written. */
  readonly metadata: Readonly<Record<string, string>>;
  /** The types and shapes of the tensors, by their names. */
  readonly tensors: Readonly<Record<string, { readonly dtype: Dtype; readonly shape: readonly number[] }>>;
}

/**
 * Loads the tensors of a safetensors file. Where a mesh is active, they live on the mesh, the same on all procs.
 *
 * @param file path of the file
 * @param options names and device
 * @returns the tensors by their names
 * @throws {TensorError} as a rejection, when the file is not a valid safetensors file
 * @throws {RangeError} as a rejection, when the file does not have a name
 * @throws {Error} as a rejection, when the file cannot be read
 */
export async function loadTensors(file: string, { names, device }: LoadOptions = {}): Promise<TensorDict> {
  return withTensorFile(file, async (handle, { entries }, data) => {
    const missing = names?.filter((name) => !Object.hasOwn(entries, name)) ?? [];
    if (missing.length > 0) {
      const list = missing.map((name) => JSON.stringify(name)).join(", ");
      throw new RangeError(`cannot load tensors from ${file}: it has no ${list}`);
    }
    const loaded: Record<string, Tensor> = Object.create(null);
    try {
      for (const name of names ?? Object.keys(entries)) {
        const read = elementReader(handle, entries[name]!, data);
        const here = device === "cpu" || currentRecording() === undefined;
        loaded[name] = await (here ? loadLocal(read) : loadOnMesh(read));
      }
    } catch (error) {
      for (const one of Object.values(loaded)) one.dispose();
      throw error;
    }
    return loaded;
  });
}

/**
 * Reads names, types and shapes of a safetensors file, without its elements.
 *
 * @param file path of the file
 * @throws {TensorError} as a rejection, when the file is not a valid safetensors file
 * @throws {Error} as a rejection, when the file cannot be read
 */
export async function tensorsIn(file: string): Promise<TensorFile> {
  return withTensorFile(file, async (_, { metadata, entries }) => {
    const tensors: Record<string, { dtype: Dtype; shape: readonly number[] }> = Object.create(null);
    for (const [name, { dtype, shape }] of Object.entries(entries)) tensors[name] = { dtype, shape };
    return { metadata, tensors };
  });
}

/** @param use reads the file; the file name is added to its errors */
async function withTensorFile<T>(
  file: string,
  use: (handle: FileHandle, header: SafetensorsHeader, data: number) => Promise<T>,
): Promise<T> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const refuse = (why: string, cause?: unknown): never => {
      throw new TensorError("ERR_TENSOR_FILE", `cannot load tensors from ${file}: ${why}`, { cause });
    };
    if (size < PREFIX_BYTES) refuse(`expected a safetensors file, got ${size} bytes`);
    const prefix = Buffer.alloc(PREFIX_BYTES);
    await readFully(handle, prefix, 0);
    const length = prefix.readBigUInt64LE();
    if (length > MAX_HEADER_BYTES) refuse(`its header has ${length} bytes, more than ${MAX_HEADER_BYTES}`);
    const data = PREFIX_BYTES + Number(length);
    if (data > size) refuse(`its header has ${length} bytes, and only ${size - PREFIX_BYTES} follow`);
    const bytes = new Uint8Array(Number(length));
    await readFully(handle, bytes, PREFIX_BYTES);
    let header: SafetensorsHeader;
    try {
      header = readHeader(bytes, size - data);
    } catch (error) {
      return refuse((error as Error).message, error);
    }
    try {
      return await use(handle, header, data);
    } catch (error) {
      if (error instanceof DamagedFileError) refuse(error.message, error);
      throw error;
    }
  } finally {
    await handle.close();
  }
}

/** Thrown when the elements contradict the header. */
class DamagedFileError extends Error {}

/** Reads the elements of one tensor, as a whole or in parts. */
interface ElementReader {
  readonly entry: TensorEntry;
  readonly readInto: (target: ArrayBufferView, from: number) => Promise<void>;
}

function elementReader(handle: FileHandle, entry: TensorEntry, data: number): ElementReader {
  return {
    entry,
    readInto: async ({ buffer, byteOffset, byteLength }, from) => {
      const bytes = new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
      await readFully(handle, bytes, data + entry.begin + from);
      // Operations of libtorch rely on booleans being 0 or 1.
      if (entry.dtype === "bool" && bytes.some((byte) => byte > 1)) {
        throw new DamagedFileError("a tensor of BOOL has bytes that are neither 0 nor 1");
      }
    },
  };
}

/** Loads a tensor in parts. A typed array over the tensor's memory would keep the memory until it is garbage-collected. */
async function loadLocal({ entry: { dtype, shape, begin, end }, readInto }: ElementReader): Promise<Tensor> {
  const made = torch.empty(shape, { dtype, device: "cpu" });
  const buffer = new ArrayBuffer(Math.min(end - begin, FILE_PART_BYTES));
  try {
    for (let from = 0; from < end - begin; from += FILE_PART_BYTES) {
      const bytes = Math.min(FILE_PART_BYTES, end - begin - from);
      const elements = typedArrayOver(dtype, buffer).subarray(0, bytes / elementSize(dtype)) as TensorData;
      await readInto(elements, from);
      using _ = new TensorScope();
      const part = made.view([-1]).narrow(0, from / elementSize(dtype), elements.length);
      part.copy_(tensorOver(elements, { dtype }));
    }
    return made;
  } catch (error) {
    made.dispose();
    throw error;
  }
}

/** Loads a tensor to the active mesh. The elements are sent in parts, which the procs join. */
async function loadOnMesh({ entry: { dtype, shape, begin, end }, readInto }: ElementReader): Promise<Tensor> {
  const parts: Tensor[] = [];
  const part = async (from: number, bytes: number, partShape: readonly number[]): Promise<Tensor> => {
    const elements = typedArrayOver(dtype, new ArrayBuffer(bytes));
    if (bytes > 0) await readInto(elements, from);
    return tensor(elements, { dtype, shape: partShape });
  };
  if (end - begin <= FILE_PART_BYTES) return part(0, end - begin, shape);
  try {
    for (let from = 0; from < end - begin; from += FILE_PART_BYTES) {
      const bytes = Math.min(FILE_PART_BYTES, end - begin - from);
      parts.push(await part(from, bytes, [bytes / elementSize(dtype)]));
    }
    const whole = torch.cat(parts);
    const shaped = whole.view(shape);
    whole.dispose();
    return shaped;
  } finally {
    for (const one of parts) one.dispose();
  }
}

/** Fills `bytes` from the byte offset `from` of the file. */
async function readFully(handle: FileHandle, bytes: Uint8Array, from: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesRead } = await handle.read(bytes, at, Math.min(bytes.length - at, 1 << 30), from + at);
    if (bytesRead === 0) throw new DamagedFileError("it was cut while it was read");
    at += bytesRead;
  }
}
