/** Handles that somebody outside of the mesh makes up: they name a process and a socket of the forger's choice. */
import { writeText, writeU32, writeU64 } from "../runtime/link/frame/control-body.js";
import { codec, setWireEnvironment, type WireEnvironment } from "../runtime/wire/index.js";
import type { Writer } from "../runtime/wire/writer.js";

export interface Forgery {
  readonly proc: bigint;
  /** Where that process is said to listen: `unix:/tmp/evil.sock`. */
  readonly location: string;
  /** The key of the actor interface that a mesh is said to have. */
  readonly actor: string;
}

/** The bytes that stand for a handle in protobuf: its field `state`. */
export function forge(handle: string, forgery: Forgery): Uint8Array {
  setWireEnvironment(forger);
  try {
    return codecs[handle]!().encode(forgery);
  } finally {
    setWireEnvironment(undefined);
  }
}

const codecs: Readonly<Record<string, () => { encode(forgery: Forgery): Uint8Array }>> = {
  Port: () => codec.port<Forgery>(() => codec.string),
  Mesh: () => codec.mesh<Forgery>(() => ({}) as never),
  RdmaBuffer: () => codec.rdmaBuffer<Forgery>(),
};

const forger: WireEnvironment = {
  writePort: (w, forgery) => writePort(w, forgery as Forgery),
  writeMesh: (w, forgery) => writeMesh(w, forgery as Forgery),
  writeBuffer: (w, forgery) => writeBuffer(w, forgery as Forgery),
  readPort: readNothing,
  readMesh: readNothing,
};

function readNothing(): never {
  throw new Error("a forger reads nothing");
}

function writePort(w: Writer, { proc, location }: Forgery): void {
  writeU64(w, proc);
  writeU64(w, 7n);
  writeU64(w, codec.string.fingerprint);
  writeText(w, location);
}

/** One rank, without dimensions. */
function writeMesh(w: Writer, { proc, location, actor }: Forgery): void {
  writeU64(w, proc + 1n);
  writeU64(w, proc);
  writeText(w, actor);
  writeText(w, "forged");
  const noDimensions = [0];
  const wholeRegion = [0, 0];
  for (const word of [...noDimensions, ...wholeRegion]) writeU32(w, word);
  writeU32(w, 1);
  writeU64(w, proc);
  writeText(w, location);
  const rankOfProcess = 0;
  const moved = 0;
  for (const word of [rankOfProcess, moved]) writeU32(w, word);
}

function writeBuffer(w: Writer, { proc, location }: Forgery): void {
  writeU64(w, proc);
  writeText(w, location);
  const [machine, pid, started, table] = [1n, 1, 1n, 0] as const;
  writeU64(w, machine);
  writeU32(w, pid);
  writeU64(w, started);
  writeU32(w, table);
  const [slot, generation] = [1, 1];
  for (const word of [slot, generation]) writeU32(w, word);
  const nonce = [1n, 2n];
  for (const word of nonce) writeU64(w, word);
  const length = 64n;
  writeU64(w, length);
  const writable = 1;
  writeU32(w, writable);
}
