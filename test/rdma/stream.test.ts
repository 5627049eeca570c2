/** Transport `stream`, with an owner whose answers come in any order. */
import { expect, test } from "vitest";
import type { MemoryAnswer } from "../../generated/rdma.js";
import { systemClock } from "../../runtime/link/clock.js";
import type { Handle } from "../../runtime/rdma/handle.js";
import type { Road } from "../../runtime/rdma/memory-proc.js";
import { PIECE_BYTES } from "../../runtime/rdma/stream/frames.js";
import { StreamBackend } from "../../runtime/rdma/stream.js";
import { runTransfer } from "../../runtime/rdma/transfer.js";

const handle: Handle = {
  proc: 1n,
  location: "",
  process: { machine: 2n, pid: 3, started: 4n, table: -1 },
  slot: 0,
  generation: 1,
  nonce: [5n, 6n],
  length: 3 * STREAM_CHUNK,
  access: "rw",
  parts: {},
};

test("once a piece was refused, what comes of the others touches nothing", async () => {
  const answers: ((answer: MemoryAnswer) => void)[] = [];
  const callOne = (_claim: unknown, _offset: number, length: number) =>
    length === 0 ? Promise.resolve({}) : new Promise<MemoryAnswer>((resolve) => answers.push(resolve));
  // No network: what is tried is what the initiator does with answers.
  const road = { ask: (_proc, _location, send) => send({ readMemory: { callOne } } as never) } as Road;
  const opened = await new StreamBackend(road).open(handle);
  const local = new Uint8Array(handle.length);
  const stretches = { words: BigUint64Array.of(0n, 0n, BigInt(handle.length)), bytes: handle.length };
  const read = runTransfer("read", local, stretches, {}, systemClock, (operation) => opened.transfer(operation));
  expect(answers.length).toBe(3);
  const [first, second, third] = answers;
  first!({ bytes: new Uint8Array(STREAM_CHUNK).fill(1) });
  second!({ refused: "revoked" });
  await expect(read).rejects.toMatchObject({ code: "ERR_RDMA_REVOKED" });
  third!({ bytes: new Uint8Array(STREAM_CHUNK).fill(3) });
  await new Promise((resolve) => setImmediate(resolve));
  expect([local[0], local[2 * STREAM_CHUNK]]).toEqual([1, 0]);
});
