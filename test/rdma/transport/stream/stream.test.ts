/** Tests of the connections of the transport `stream`, and of peers that violate its protocol. */
import { describe, expect, test } from "vitest";
import { systemClock, systemRandom } from "../../../../runtime/link/clock.js";
import { ownMachineId } from "../../../../runtime/machine-id.js";
import { GrantState } from "../../../../runtime/rdma/grant/grant-slot.js";
import { GrantTable } from "../../../../runtime/rdma/grant/grant-table.js";
import type { grantClaimOf, MemoryHandle } from "../../../../runtime/rdma/grant/memory-handle.js";
import { ownStartTime } from "../../../../runtime/rdma/grant/start-time.js";
import type { PeerConnector } from "../../../../runtime/rdma/peer/peer-connector.js";
import { runTransfer } from "../../../../runtime/rdma/transfer/run-transfer.js";
import type { TransferOperation } from "../../../../runtime/rdma/transfer/transfer-operation.js";
import { StreamBackend } from "../../../../runtime/rdma/transport/stream/backend.js";
import {
  MAX_PIECE_BYTES,
  MAX_UNANSWERED,
  MemoryFrameKind,
  REQUEST_BYTES,
  writeAnswer,
  writeHello,
  writeOffer,
  writeRequest,
  writeWelcome,
} from "../../../../runtime/rdma/transport/stream/frames.js";
import { cases } from "../../../profile.js";
import { withRandom } from "../../../random.js";
import { nextTurn, handle as ownHandle, ScriptedPipe } from "./scripted-pipe.js";

const universe = 7n;
/** Makes an owner with 64 KiB of memory, of which all but the ends is granted, and a connection after the hello. */
function owner(access: "r" | "rw" = "rw", isDirect = true) {
  const table = new GrantTable(undefined, systemClock, systemRandom);
  const memory = new Uint8Array(4 * MAX_PIECE_BYTES).fill(77);
  const length = memory.length - 32;
  const granted = memory.subarray(16, 16 + length).fill(1);
  const grant = table.add({ bytes: memory, address: undefined, file: undefined }, 16, length, access);
  const road: PeerConnector = { universe, reachableAddress: undefined, askAgent: nobody, connect: nobody, listen() {} };
  const backend = new StreamBackend(road, table, systemClock, systemRandom);
  const pipe = new ScriptedPipe();
  backend.acceptConnection({ pipe, isDirect });
  const claim = {
    slot: grant.slot,
    generation: grant.generation,
    nonce0: grant.nonce[0],
    nonce1: grant.nonce[1],
    machine: ownMachineId(),
    pid: process.pid,
    started: ownStartTime(),
    length,
    writable: access === "rw",
  };
  const end = () => {
    table.markEnded(grant, GrantState.revoked);
    return backend.finishRevocation(grant);
  };
  const answers = (count: number) => Buffer.concat(pipe.sent).subarray(8, 8 + 8 * count);
  return { pipe, claim, memory, granted, table, end, answers };
}

const nobody = () => Promise.reject(new Error("there is nobody")) as never;
const read = (claim: ReturnType<typeof grantClaimOf>, offset: number, length: number) =>
  writeRequest({ kind: MemoryFrameKind.read, claim, offset, length });
const write = (claim: ReturnType<typeof grantClaimOf>, offset: number, length: number) =>
  writeRequest({ kind: MemoryFrameKind.write, claim, offset, length });

describe("an owner", () => {
  test("answers in the order of the requests, and sends large ranges from the memory itself", async () => {
    const { pipe, claim, granted } = owner();
    granted[5] = 9;
    pipe.receive(
      writeHello(universe),
      read(claim, 5, 1),
      write(claim, 6, 2),
      Uint8Array.of(3, 4),
      read(claim, 4, 4),
      read(claim, 0, 100_000),
    );
    await nextTurn();
    expect([...pipe.bytes.subarray(0, 41)]).toEqual(
      [
        writeWelcome(),
        writeAnswer(undefined, 1),
        [9],
        writeAnswer(undefined, 0),
        writeAnswer(undefined, 4),
        [1, 9, 3, 4],
      ]
        .flatMap((part) => [...part])
        .concat([0, 0, 0, 0]),
    );
    const last = pipe.sent.at(-1)!;
    expect([last.buffer === granted.buffer, last.byteOffset, last.length]).toEqual([true, 16, 100_000]);
  });

  test("copies the memory for a pipe that may keep it for longer", () => {
    const { pipe, claim, granted } = owner("rw", false);
    pipe.receive(writeHello(universe), read(claim, 0, 100_000));
    expect(pipe.sent.at(-1)!.buffer).not.toBe(granted.buffer);
  });

  test("reads large writes directly into the memory, and copies small ones", () => {
    const { pipe, claim, memory, granted } = owner();
    const bytes = Uint8Array.from({ length: MAX_PIECE_BYTES }, (_, i) => i);
    pipe.receive(writeHello(universe), write(claim, 8, MAX_PIECE_BYTES));
    pipe.receive(bytes.subarray(0, 10));
    expect(pipe.target!.buffer).toBe(memory.buffer);
    pipe.receive(bytes.subarray(10));
    expect(Buffer.compare(granted.subarray(8, 8 + MAX_PIECE_BYTES), bytes)).toBe(0);
    expect([granted[7], granted[8 + MAX_PIECE_BYTES]]).toEqual([1, 1]);
  });

  test("refuses a request in its answer, and continues", async () => {
    const { pipe, claim, memory, answers } = owner("r");
    pipe.receive(
      writeHello(universe),
      read({ ...claim, nonce0: claim.nonce0 ^ 1n }, 0, 8),
      read({ ...claim, generation: 9 }, 0, 8),
      read({ ...claim, started: 1n }, 0, 8),
      read(claim, claim.length - 7, 8),
      read(claim, 2 ** 53, 8),
      read(claim, 0, MAX_PIECE_BYTES + 1),
      write(claim, 0, 3),
      Uint8Array.of(5, 5, 5),
      write({ ...claim, writable: true }, 0, 3),
      Uint8Array.of(5, 5, 5),
    );
    await nextTurn();
    const refused = (["forged", "forged", "stale", "bounds", "bounds", "bounds", "access", "forged"] as const).map(
      (why) => writeAnswer(why, 0),
    );
    expect([...answers(8)]).toEqual([...Buffer.concat(refused)]);
    expect(memory.every((byte, i) => byte === (i < 16 || i >= memory.length - 16 ? 77 : 1))).toBe(true);
    expect(pipe.destroyed).toBe(false);
  });

  test.each([
    ["somebody who is no peer", () => [new Uint8Array(REQUEST_BYTES).fill(71)], "does not speak this protocol"],
    [
      "another version",
      () => [changed(writeHello(universe), 16, 2)],
      "the peer speaks version 2 of this protocol, this process 1",
    ],
    ["another tree of processes", () => [writeHello(8n)], "the peer belongs to another universe"],
    ["an owner that nobody has asked", () => [writeOffer(universe, 5n)], "a connection without an invitation"],
    ["an owner of another tree", () => [writeOffer(8n, 5n)], "the peer belongs to another universe"],
    ["another kind", () => [writeHello(universe), changed(read(claim, 0, 1), 0, 3)], "unknown kind 3"],
    ["a second hello", () => [writeHello(universe), writeHello(universe)], "unknown kind 0"],
    [
      "a write that is too long",
      () => [writeHello(universe), write(claim, 0, MAX_PIECE_BYTES + 1)],
      `a write of ${MAX_PIECE_BYTES + 1} bytes, more than ${MAX_PIECE_BYTES}`,
    ],
  ])("ends the connection of %s", (_, says, why) => {
    const { pipe, memory } = owner();
    pipe.receive(...says());
    expect(pipe.destroyed).toBe(true);
    expect(pipe.why?.message).toContain(`cannot read memory frame: `);
    expect(pipe.why?.message).toContain(why);
    expect(memory[0]).toBe(77);
  });

  test("ends the connection of a peer that sends requests and reads no answers", async () => {
    const { pipe, claim } = owner();
    pipe.receive(writeHello(universe));
    await nextTurn();
    pipe.takesWrites = false;
    const sent = pipe.sent.length;
    for (let i = 0; i < MAX_UNANSWERED + 10 && !pipe.destroyed; i++) pipe.receive(read(claim, 0, MAX_PIECE_BYTES));
    expect(pipe.why?.message).toBe(`cannot read memory frame: expected at most ${MAX_UNANSWERED} unanswered requests`);
    // The pipe has two pieces, and no more are copied for further requests.
    expect(pipe.sent.length - sent).toBe(4);
  });

  test("ends a grant at once if no bytes are in flight, and waits for bytes in flight", async () => {
    const { pipe, claim, end } = owner();
    pipe.receive(writeHello(universe));
    await nextTurn();
    pipe.takesWrites = false;
    pipe.receive(read(claim, 0, MAX_PIECE_BYTES), read(claim, 0, MAX_PIECE_BYTES), read(claim, 0, MAX_PIECE_BYTES));
    const handed = pipe.sent.length;
    let ended = false;
    const ending = end().then(() => {
      ended = true;
    });
    await nextTurn();
    expect({ ended, destroyed: pipe.destroyed }).toEqual({ ended: false, destroyed: false });
    await ending;
    // The peer has not read the bytes, so the connection is ended.
    expect(pipe.destroyed).toBe(true);
    expect(pipe.why?.message).toBe("the peer has delayed the end of a grant");
    expect(pipe.sent.length).toBe(handed);
  });

  test("discards the rest of a write whose grant ends meanwhile", async () => {
    const { pipe, claim, memory, granted, end } = owner();
    pipe.receive(writeHello(universe), write(claim, 0, MAX_PIECE_BYTES));
    pipe.receive(new Uint8Array(1000).fill(5));
    expect(pipe.target!.buffer).toBe(memory.buffer);
    const ending = end();
    pipe.receive(new Uint8Array(1).fill(5));
    await ending;
    granted.fill(8);
    pipe.receive(new Uint8Array(MAX_PIECE_BYTES - 1001).fill(5));
    expect(granted.every((byte) => byte === 8)).toBe(true);
    expect([...pipe.bytes.subarray(8)]).toEqual([...writeAnswer("revoked", 0)]);
    expect(pipe.destroyed).toBe(false);
  });

  test("for any input, only granted bytes are sent, and only granted bytes are changed", () =>
    withRandom((random) => {
      // A sent byte may come from an earlier write to the grant.
      const foreign = Buffer.alloc(8, 77);
      let ended = 0;
      const tries = cases(3000, 200_000);
      const { claim, ...first } = owner();
      let { pipe } = first;
      const { memory } = first;
      const fresh = () => {
        const road: PeerConnector = {
          universe,
          reachableAddress: undefined,
          askAgent: nobody,
          connect: nobody,
          listen() {},
        };
        pipe = new ScriptedPipe();
        new StreamBackend(road, first.table, systemClock, systemRandom).acceptConnection({ pipe, isDirect: true });
        pipe.receive(writeHello(universe));
      };
      fresh();
      for (let i = 0; i < tries; i++) {
        const said = i % 3 === 0 ? write(claim, random(100), random(64)) : read(claim, random(100), random(64));
        for (let left = i % 4; left > 0; left--) said[random(REQUEST_BYTES)] = random(256);
        const hex = Buffer.from(said).toString("hex");
        pipe.sent.length = 0;
        pipe.receive(said, new Uint8Array(64).fill(1));
        if (Buffer.from(pipe.bytes).includes(foreign)) expect.fail(`case ${i} has shown what was not granted: ${hex}`);
        if (pipe.destroyed) ended++;
        // A long write consumes all bytes that follow it.
        if (pipe.destroyed || i % 50 === 49) fresh();
      }
      expect(ended).toBeGreaterThan(tries / 100);
      expect([memory.subarray(0, 16), memory.subarray(-16)].every((end) => end.every((byte) => byte === 77))).toBe(
        true,
      );
    }));
});

const { claim } = owner();

/** Makes a handle, an initiator that connects to the test, and the list of its connections. */
function initiator(length = 3 * MAX_PIECE_BYTES) {
  const pipes: ScriptedPipe[] = [];
  let refusing = false;
  const road: PeerConnector = {
    universe,
    reachableAddress: undefined,
    askAgent: (_proc, _location, send) => {
      const gone = () => Promise.reject(new Error("it has ended"));
      return send({ readMemory: { callOne: gone }, writeMemory: { callOne: gone } } as never);
    },
    connect: async () => {
      if (refusing) throw new Error("nobody listens there");
      const pipe = new ScriptedPipe();
      pipes.push(pipe);
      return { pipe, isDirect: true };
    },
    listen() {},
  };
  const handle: MemoryHandle = { ...ownHandle, length };
  const backend = new StreamBackend(road, { find: () => "forged" }, systemClock, systemRandom);
  /** Sends the welcome on the newest connection. */
  const welcomed = async () => {
    await nextTurn();
    const pipe = pipes.at(-1)!;
    pipe.receive(writeWelcome());
    await nextTurn();
    return pipe;
  };
  const opened = async () => {
    const opening = backend.open(handle);
    const pipe = await welcomed();
    pipe.receive(writeAnswer(undefined, 0));
    return { pipe, opened: await opening };
  };
  const refuse = () => {
    refusing = true;
  };
  return { handle, backend, pipes, opened, welcomed, refuse };
}

const start = (
  opened: Awaited<ReturnType<StreamBackend["open"]>>,
  direction: "read" | "write",
  local: Uint8Array,
  signal?: AbortSignal,
) =>
  runTransfer(
    direction,
    local,
    { words: BigUint64Array.of(0n, 0n, BigInt(local.length)), bytes: local.length },
    { ...(signal && { signal }) },
    systemClock,
    (operation: TransferOperation) => opened.transfer(operation),
  );

describe("an initiator", () => {
  test("reads directly into the view, and does not access it after a piece was refused", async () => {
    const { opened, handle } = initiator();
    const { pipe, opened: memory } = await opened();
    const local = new Uint8Array(handle.length);
    const reading = start(memory, "read", local);
    pipe.receive(writeAnswer(undefined, MAX_PIECE_BYTES), new Uint8Array(100).fill(1));
    expect(pipe.target!.buffer).toBe(local.buffer);
    pipe.receive(new Uint8Array(MAX_PIECE_BYTES - 100).fill(1), writeAnswer("revoked", 0));
    await expect(reading).rejects.toMatchObject({ code: "ERR_RDMA_REVOKED" });
    pipe.receive(writeAnswer(undefined, MAX_PIECE_BYTES), new Uint8Array(MAX_PIECE_BYTES).fill(3));
    expect([local[0], local[MAX_PIECE_BYTES - 1], local[MAX_PIECE_BYTES], local[2 * MAX_PIECE_BYTES]]).toEqual([
      1, 1, 0, 0,
    ]);
    expect(pipe.destroyed).toBe(false);
  });

  test("a transfer that is cancelled during a piece waits until the pipe stops reading into the view", async () => {
    const { opened, handle } = initiator();
    const { pipe, opened: memory } = await opened();
    const local = new Uint8Array(handle.length);
    const stop = new AbortController();
    let settled = false;
    const reading = start(memory, "read", local, stop.signal).finally(() => {
      settled = true;
    });
    reading.catch(() => undefined);
    pipe.receive(writeAnswer(undefined, MAX_PIECE_BYTES), new Uint8Array(100).fill(1));
    stop.abort(new Error("enough"));
    await nextTurn();
    expect(settled).toBe(false);
    pipe.receive(new Uint8Array(50).fill(1));
    await expect(reading).rejects.toThrow("enough");
    local.fill(0);
    pipe.receive(new Uint8Array(MAX_PIECE_BYTES - 150).fill(1));
    expect(local.every((byte) => byte === 0)).toBe(true);
    expect(pipe.destroyed).toBe(false);
  });

  test("an owner that delays a cancelled transfer loses the connection, and other reads continue over the next one", async () => {
    const { opened, pipes, welcomed } = initiator(MAX_PIECE_BYTES);
    const { pipe, opened: memory } = await opened();
    const [local, other] = [new Uint8Array(MAX_PIECE_BYTES), new Uint8Array(MAX_PIECE_BYTES)];
    const stop = new AbortController();
    const reading = start(memory, "read", local, stop.signal);
    const going = start(memory, "read", other);
    pipe.receive(writeAnswer(undefined, MAX_PIECE_BYTES), new Uint8Array(100).fill(1));
    stop.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
    expect(pipe.why?.message).toBe("its owner has delayed a cancelled transfer");
    const next = await welcomed();
    expect(pipes.length).toBe(2);
    next.receive(writeAnswer(undefined, MAX_PIECE_BYTES), new Uint8Array(MAX_PIECE_BYTES).fill(6));
    await going;
    expect(other.every((byte) => byte === 6)).toBe(true);
  });

  test("a transfer that is cancelled before the welcome receives nothing afterwards", async () => {
    const { opened, pipes, welcomed } = initiator(1000);
    const { pipe, opened: memory } = await opened();
    pipe.destroy(new Error("cut"));
    await nextTurn();
    const local = new Uint8Array(1000);
    const stop = new AbortController();
    const reading = start(memory, "read", local, stop.signal);
    await nextTurn();
    stop.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
    const next = await welcomed();
    expect([pipes.length, next.sent.length]).toEqual([2, 1]);
    next.receive(writeAnswer(undefined, 1000), new Uint8Array(1000).fill(6));
    expect(local.every((byte) => byte === 0)).toBe(true);
  });

  test("a write has an unknown outcome if its connection is lost, and fails if its owner has ended", async () => {
    const one = initiator(1000);
    const first = await one.opened();
    const writing = start(first.opened, "write", new Uint8Array(1000));
    await nextTurn();
    first.pipe.destroy(new Error("cut"));
    const next = await one.welcomed();
    next.receive(writeAnswer(undefined, 0));
    await expect(writing).rejects.toMatchObject({
      code: "ERR_RDMA_UNKNOWN",
      message: "cannot write: the connection to its owner was lost: cut",
    });
    const two = initiator(1000);
    const second = await two.opened();
    two.refuse();
    const [late, lost] = [
      start(second.opened, "write", new Uint8Array(1000)),
      start(second.opened, "read", new Uint8Array(9)),
    ];
    await nextTurn();
    second.pipe.destroy(new Error("cut"));
    await expect(late).rejects.toMatchObject({ code: "ERR_RDMA_PEER_GONE" });
    await expect(lost).rejects.toThrow("cannot reach the owner of an RdmaBuffer: it has ended");
  });

  test("an owner whose connections end repeatedly counts as gone", async () => {
    const { opened, pipes, welcomed } = initiator(1000);
    const { opened: memory } = await opened();
    const reading = start(memory, "read", new Uint8Array(1000));
    const failed = expect(reading).rejects.toMatchObject({ code: "ERR_RDMA_PEER_GONE" });
    await nextTurn();
    for (let i = 0; i < 4; i++) {
      pipes.at(-1)!.destroy(new Error("cut"));
      await nextTurn();
      if (i < 3) await welcomed();
    }
    await failed;
    expect(pipes.length).toBe(4);
  });

  test.each([
    ["unknown answer 7", [changed(writeAnswer(undefined, 0), 0, 7)]],
    ["expected 1000 bytes, got 999", [writeAnswer(undefined, 999)]],
    ["expected 0 bytes, got 8", [changed(writeAnswer("revoked", 0), 4, 8)]],
    ["an answer without a request", [writeAnswer(undefined, 1000), new Uint8Array(1000), writeAnswer(undefined, 0)]],
  ])("an owner that violates the protocol loses the connection: %s", async (why, says) => {
    const { opened } = initiator(1000);
    const { pipe, opened: memory } = await opened();
    const local = new Uint8Array(1000);
    start(memory, "read", local).catch(() => undefined);
    await nextTurn();
    pipe.receive(...says);
    expect(pipe.why?.message).toBe(`cannot read memory frame: ${why}`);
  });
});

function changed(bytes: Uint8Array, at: number, word: number): Uint8Array {
  new DataView(bytes.buffer).setUint32(at, word, true);
  return bytes;
}
