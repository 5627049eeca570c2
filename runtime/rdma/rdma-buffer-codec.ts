/** Encodes and decodes the handles of buffers in messages. A decoded handle is not trusted; its first use checks it. */
import { describeValue } from "../../shared/text/describe-value.js";
import { readText, readU32, readU64, writeText, writeU32, writeU64 } from "../link/frame/control-body.js";
import type { Reader } from "../wire/reader.js";
import type { WireEnvironment } from "../wire/wire-environment.js";
import type { Writer } from "../wire/writer.js";
import { MAX_HANDLE_BYTES, MAX_PART_BYTES, numberedParts } from "./grant/memory-handle.js";
import { RdmaBuffer } from "./rdma-buffer.js";
import { type Transport, transports } from "./transport-names.js";

export const rdmaBufferCodec: Required<Pick<WireEnvironment, "writeBuffer" | "readBuffer">> = {
  writeBuffer,
  readBuffer,
};

const WRITABLE = 1;

function writeBuffer(w: Writer, value: unknown): void {
  if (!(value instanceof RdmaBuffer)) throw new TypeError(`expected an RdmaBuffer, got ${describeValue(value)}`);
  const { handle } = value;
  const { proc, location, process: name } = handle;
  const begin = w.position;
  writeU64(w, proc);
  writeText(w, location);
  writeU64(w, name.machine);
  writeU32(w, name.pid);
  writeU64(w, name.started);
  writeU32(w, name.table + 1);
  writeU32(w, handle.slot);
  writeU32(w, handle.generation);
  for (const word of handle.nonce) writeU64(w, word);
  writeU64(w, BigInt(handle.length));
  const parts = numberedParts(handle);
  writeU32(w, (handle.access === "rw" ? WRITABLE : 0) | (parts.length << 8));
  for (const [transport, part] of parts) {
    writeU32(w, (transport << 16) | part.length);
    const at = w.reserve(part.length);
    w.bytes.set(part, at);
  }
  const size = w.position - begin;
  if (size > MAX_HANDLE_BYTES) {
    throw new RangeError(
      `its handle has ${size} bytes, more than ${MAX_HANDLE_BYTES}: the address of its host is too long`,
    );
  }
}

function readBuffer(r: Reader): RdmaBuffer {
  const begin = r.position;
  const proc = readU64(r);
  const location = readText(r);
  const process = { machine: readU64(r), pid: readU32(r), started: readU64(r), table: readU32(r) - 1 };
  const slot = readU32(r);
  const generation = readU32(r);
  const nonce = [readU64(r), readU64(r)] as const;
  const length = Number(readU64(r));
  const flags = readU32(r);
  const transportParts: Partial<Record<Transport, Uint8Array>> = {};
  for (let left = flags >>> 8; left > 0; left--) {
    const word = readU32(r);
    const transport = transports[word >>> 16];
    const size = word & 0xffff;
    if (transport === undefined || size > MAX_PART_BYTES)
      throw new RangeError("invalid memory handle: unknown or oversized transport part");
    const at = r.take(size);
    // A copy, because the memory of the message is reused.
    transportParts[transport] = Uint8Array.from(r.bytes.subarray(at, at + size));
  }
  const isHandle = length > 0 && Number.isSafeInteger(length) && (flags & 0xff) <= WRITABLE && process.pid > 0;
  if (!isHandle || r.position - begin > MAX_HANDLE_BYTES) throw new RangeError("invalid memory handle");
  const access = (flags & WRITABLE) === 0 ? "r" : "rw";
  return RdmaBuffer.fromHandle({
    proc,
    location,
    process,
    slot,
    generation,
    nonce,
    length,
    access,
    transportParts,
  });
}
