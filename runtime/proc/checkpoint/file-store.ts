/**
 * Keeps checkpoints in files, one for each actor. A checkpoint is written to a temporary file, which then replaces the file
 * of the actor, so that a process which ends in the middle leaves the earlier checkpoint. Each file ends with a checksum, so
 * that a damaged file is not taken for a checkpoint.
 */
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { type Checkpoint, CheckpointCodec } from "../../../generated/checkpoint.js";
import { describeValue } from "../../../shared/text/describe-value.js";
import { errorMessage } from "../../../shared/text/error-message.js";
import { lazyModules } from "../../lazy-modules.js";
import type { CheckpointPlace, CheckpointStore } from "../../supervise/checkpoint-store.js";
import { crc32 } from "./crc32.js";

/** The first bytes of each file: a name, and the version of the format as the last byte. */
const MAGIC = Buffer.from("VCRYCKP\u0001", "latin1");
/** The size of the magic bytes and of the two lengths that follow. */
const HEAD_BYTES = MAGIC.length + 4 + 8;
/** The size of the checksum at the end. */
const CHECKSUM_BYTES = 4;
/** The number of bytes that are written and checked at a time. */
const CHUNK_BYTES = 4 * 1024 * 1024;
/** The longest name of a file, without its extension. File systems allow 255 bytes. */
const MAX_NAME = 200;

/** The number of bytes that are read at a time. */
const READ_BYTES = 256 * 1024 * 1024;

const emptyState = new Uint8Array(0);

/**
 * Returns a store that keeps checkpoints in files: `fileStore("state")` writes the checkpoint of `counters[1]` to
 * `state/counters-1.checkpoint`. A new checkpoint replaces the file in one step, after its bytes have reached the disk. A
 * damaged or incomplete file is refused when it is read.
 *
 * Only one program may write to a directory at a time, and its meshes must have different names.
 *
 * @param directory the path of the directory, which is created with the first checkpoint
 * @returns a store for the option `restart.store`
 * @throws {TypeError} when `directory` is not a text, or empty
 */
export function fileStore(directory: string): CheckpointStore {
  if (typeof directory !== "string" || directory === "") {
    throw new TypeError(`cannot make a file store: expected the path of a directory, got ${describeValue(directory)}`);
  }
  return new FileStore(path.resolve(directory));
}

class FileStore implements CheckpointStore {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async write(place: CheckpointPlace, checkpoint: Checkpoint): Promise<void> {
    const file = this.#fileOf(place);
    // There is one writer for each place, so what is left of a process that ended in the middle is overwritten.
    const temporary = `${file}.tmp`;
    try {
      await mkdir(this.#directory, { recursive: true });
      await writeWhole(temporary, checkpoint);
      await rename(temporary, file);
      await syncDirectory(this.#directory);
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {});
      throw new Error(`cannot write checkpoint ${file}: ${errorMessage(error)}`, { cause: error });
    }
  }

  async read(place: CheckpointPlace): Promise<Checkpoint | undefined> {
    const file = this.#fileOf(place);
    let bytes: Buffer;
    try {
      bytes = await readWhole(file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw new Error(`cannot read checkpoint ${file}: ${errorMessage(error)}`, { cause: error });
    }
    try {
      return await parse(bytes);
    } catch (error) {
      throw new Error(`cannot read checkpoint ${file}: ${errorMessage(error)}`, { cause: error });
    }
  }

  async delete(place: CheckpointPlace): Promise<void> {
    await rm(this.#fileOf(place), { force: true });
  }

  #fileOf({ mesh, rank }: CheckpointPlace): string {
    const encoded = encodeURIComponent(mesh);
    const name =
      encoded.length <= MAX_NAME ? encoded : lazyModules.crypto.createHash("sha256").update(mesh).digest("hex");
    return path.join(this.#directory, `${name}-${rank}.checkpoint`);
  }
}

/** Writes a checkpoint to a file, and waits until it has reached the disk. Checksums are computed while chunks are written. */
async function writeWhole(file: string, checkpoint: Checkpoint): Promise<void> {
  const { state } = checkpoint;
  const header = CheckpointCodec.toProtobuf({ ...checkpoint, state: emptyState });
  const head = Buffer.alloc(HEAD_BYTES);
  MAGIC.copy(head);
  head.writeUInt32LE(header.length, MAGIC.length);
  head.writeBigUInt64LE(BigInt(state.length), MAGIC.length + 4);
  let sum = 0;
  const handle = await open(file, "w");
  try {
    for (const part of [head, header, ...chunksOf(state)]) {
      const written = writeAll(handle, part);
      sum = crc32(part, sum);
      await written;
    }
    const end = Buffer.alloc(CHECKSUM_BYTES);
    end.writeUInt32LE(sum);
    await writeAll(handle, end);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Reads a file in parts, because Node.js reads no file of 2 GiB at once. */
async function readWhole(file: string): Promise<Buffer> {
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    const bytes = Buffer.allocUnsafeSlow(size);
    let fill = 0;
    while (fill < size) {
      const { bytesRead } = await handle.read(bytes, fill, Math.min(READ_BYTES, size - fill));
      if (bytesRead === 0) break;
      fill += bytesRead;
    }
    return bytes.subarray(0, fill);
  } finally {
    await handle.close();
  }
}

async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at)).bytesWritten;
}

function* chunksOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
}

/** Waits until a renamed file has reached the disk under its name. */
async function syncDirectory(directory: string): Promise<void> {
  // Windows cannot open directories, and renames files durably by itself.
  if (process.platform === "win32") return;
  const handle = await open(directory, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** @throws Error, CodecError when the bytes are not a whole file of a checkpoint */
async function parse(bytes: Buffer): Promise<Checkpoint> {
  const name = MAGIC.length - 1;
  if (!bytes.subarray(0, name).equals(MAGIC.subarray(0, name))) throw new Error("the file is not a checkpoint");
  if (bytes.length < HEAD_BYTES) throw truncated(HEAD_BYTES + CHECKSUM_BYTES, bytes.length);
  const [version, known] = [bytes[name]!, MAGIC[name]!];
  if (version > known) {
    throw new Error(`the file has version ${version} of the format, and this version of Viceroy reads up to ${known}`);
  }
  const headerEnd = HEAD_BYTES + bytes.readUInt32LE(MAGIC.length);
  const stateEnd = headerEnd + Number(bytes.readBigUInt64LE(MAGIC.length + 4));
  const end = stateEnd + CHECKSUM_BYTES;
  if (bytes.length < end) throw truncated(end, bytes.length);
  let sum = 0;
  for (const chunk of chunksOf(bytes.subarray(0, stateEnd))) {
    sum = crc32(chunk, sum);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  if (bytes.length > end || sum !== bytes.readUInt32LE(stateEnd)) {
    throw new Error("the file is damaged: its checksum does not match its content");
  }
  const checkpoint = CheckpointCodec.fromProtobuf(plain(bytes.subarray(HEAD_BYTES, headerEnd)));
  checkpoint.state = plain(bytes.subarray(headerEnd, stateEnd));
  return checkpoint;
}

function truncated(expected: number, got: number): Error {
  return new Error(`the file is incomplete: expected ${expected} bytes, got ${got}`);
}

/** Returns the same bytes as a Uint8Array that is no Buffer. */
function plain({ buffer, byteOffset, length }: Buffer): Uint8Array {
  return new Uint8Array(buffer, byteOffset, length);
}
