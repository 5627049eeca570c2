/** Saves tensors to safetensors files, which Python libraries can read. */
import { randomUUID } from "node:crypto";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { TensorError } from "../errors.js";
import { inspect } from "../mesh/inspect.js";
import { tensorOver } from "../value/create-tensor.js";
import { noGrad } from "../value/grad.js";
import { FILE_PART_BYTES } from "../value/size-limits.js";
import type { Tensor } from "../value/tensor.js";
import type { TensorDict } from "../value/tensor-dict.js";
import { TensorScope } from "../value/tensor-scope.js";
import { elementSize, typedArrayOver } from "../value/typed-array.js";
import { layOutTensors, writeHeader } from "./header.js";

/** The options of {@link saveTensors}. */
export interface SaveOptions {
  /** Metadata for the file. Default: none. */
  readonly metadata?: Readonly<Record<string, string>>;
  /**
   * The index of the proc in each dimension whose part of tensors of a mesh is written, as for {@link inspect}.
   * Required for tensors of a mesh.
   */
  readonly at?: Readonly<Record<string, number>>;
}

/**
 * Writes tensors to a safetensors file, with their current elements, which are copied first. The file replaces an
 * existing one when it is complete.
 *
 * @param file path of the file
 * @param tensors by their names
 * @param options metadata, and the proc of tensors of a mesh
 * @throws {TypeError} as a rejection, when a name, type or metadata is not possible in such a file
 * @throws {TensorError} as a rejection, when a tensor of a mesh is given without `at`, or has failed
 * @throws {Error} as a rejection, when the file cannot be written
 */
export async function saveTensors(
  file: string,
  tensors: TensorDict,
  { metadata = {}, at }: SaveOptions = {},
): Promise<void> {
  for (const [key, value] of Object.entries(metadata)) {
    if (typeof value === "string" && key.isWellFormed() && value.isWellFormed()) continue;
    throw new TypeError(`cannot save tensors to ${file}: metadata ${JSON.stringify(key)} must be text, got ${value}`);
  }
  const distributed = Object.entries(tensors).find(([, tensor]) => tensor.distributed);
  if (distributed !== undefined && at === undefined) {
    throw new TensorError(
      "ERR_TENSOR_PLACE",
      `cannot save tensor ${JSON.stringify(distributed[0])}: each process of its mesh has a part; name one by { at: … }`,
    );
  }
  const places = layOutTensors(Object.entries(tensors).map(([name, { dtype, shape }]) => ({ name, dtype, shape })));
  const header = writeHeader(places, metadata);
  // All copies are requested before the first await, so that no operation comes between them.
  const elements = await Promise.all(places.map(([name]) => elementBytes(tensors[name]!, at)));
  await replaceFile(file, async (handle) => {
    await handle.writeFile(header);
    for (const bytes of elements.flat()) await handle.writeFile(bytes);
  });
}

/** Copies the elements of a tensor, in order. Requests the copies before the first await. */
async function elementBytes(tensor: Tensor, at: SaveOptions["at"]): Promise<Uint8Array[]> {
  if (!tensor.distributed) return [copyBytes(tensor)];
  const count = tensor.shape.reduce((product, size) => product * size, 1);
  const step = FILE_PART_BYTES / elementSize(tensor.dtype);
  if (count <= step) return [await fetchBytes(tensor, at)];
  const flat = tensor.detach().reshape([-1]);
  const parts = Array.from({ length: Math.ceil(count / step) }, (_, i) => {
    const part = flat.narrow(0, i * step, Math.min(step, count - i * step));
    const bytes = fetchBytes(part, at);
    part.dispose();
    return bytes;
  });
  flat.dispose();
  return Promise.all(parts);
}

async function fetchBytes(tensor: Tensor, at: SaveOptions["at"]): Promise<Uint8Array> {
  using part = await inspect(tensor, at);
  return copyBytes(part);
}

/** Copies elements to memory of JavaScript. A typed array over the tensor's memory would keep it until it is garbage-collected. */
function copyBytes(tensor: Tensor): Uint8Array {
  const { dtype, shape } = tensor;
  const bytes = new ArrayBuffer(shape.reduce((product, size) => product * size, elementSize(dtype)));
  using _ = new TensorScope();
  noGrad(() => tensorOver(typedArrayOver(dtype, bytes), { dtype, shape }).copy_(tensor));
  return new Uint8Array(bytes);
}

/** Replaces a file atomically: writes a temporary file beside it and renames that. Readers see the old or the new file. */
async function replaceFile(file: string, write: (handle: FileHandle) => Promise<void>): Promise<void> {
  const temporary = `${file}.${randomUUID()}.new`;
  const handle = await open(temporary, "wx");
  try {
    try {
      await write(handle);
      // Without it, a crash of the machine could leave the new name without the elements.
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
