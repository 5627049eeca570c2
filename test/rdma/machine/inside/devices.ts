/**
 * Tests of the rules that RDMA devices enforce, and of transfers during the end of connections, grants and processes.
 * The tests use the transport directly, because the code above it makes no invalid requests. The initiator uses device
 * rxe0, and the owner device rxe1, at the other end of a wire.
 */
import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock, systemRandom } from "../../../../runtime/link/clock.js";
import { rdmaAddon } from "../../../../runtime/native/rdma-addon.js";
import { GrantTable } from "../../../../runtime/rdma/grant/grant-table.js";
import type { MemoryHandle } from "../../../../runtime/rdma/grant/memory-handle.js";
import { runTransfer } from "../../../../runtime/rdma/transfer/run-transfer.js";
import { type TransferDirection, TransferOperation } from "../../../../runtime/rdma/transfer/transfer-operation.js";
import type { OpenedMemory } from "../../../../runtime/rdma/transport/backend.js";
import { VerbsBackend } from "../../../../runtime/rdma/transport/verbs/backend.js";
import { CLAIM_BYTES, decodeAnswer, type VerbsAnswer } from "../../../../runtime/rdma/transport/verbs/messages.js";
import { cases } from "../../../profile.js";
import { withRandom } from "../../../random.js";
import { pattern } from "./owner.js";
import { Owner } from "./owners.js";

const size = 3 << 20;

describe("by an RDMA device", () => {
  let owner: Owner;
  let backend: VerbsBackend;
  let handle: MemoryHandle;
  let opened: OpenedMemory;

  beforeAll(async () => {
    const addon = rdmaAddon();
    backend = new VerbsBackend(addon, new GrantTable(addon, systemClock, systemRandom), systemClock, "rxe0");
    owner = new Owner("rxe1");
    handle = await owner.grant(size, "rw");
    opened = await open(owner, handle);
  });

  afterAll(() => {
    owner[Symbol.dispose]();
    backend.close();
  });

  async function open(of: Owner, named: MemoryHandle): Promise<OpenedMemory> {
    const reached = await backend.open(named, of.ask, new AbortController().signal);
    if (reached === undefined) throw new Error("the device does not reach the memory");
    return reached;
  }

  test("the two devices reach each other with a program of libibverbs", () => {
    const script =
      "ibv_rc_pingpong -d rxe0 -g 1 -n 20 >/dev/null & sleep 1; ibv_rc_pingpong -d rxe1 -g 1 -n 20 10.77.0.1";
    expect(execFileSync("sh", ["-c", script], { encoding: "utf8" })).toContain("20 iters");
  });

  test("reads and writes of large and small sizes transfer all bytes", async () => {
    const all = new Uint8Array(size);
    await run(opened, "read", all);
    expect(all.every((byte, index) => byte === pattern(index))).toBe(true);
    await run(opened, "write", new Uint8Array(100).fill(9), 500);
    const written = await owner.tell({ kind: "bytes", slot: handle.slot, from: 499, to: 601 });
    expect(written).toEqual(Uint8Array.from([pattern(499), ...new Array(100).fill(9), pattern(600)]));
    const some = new Uint8Array(300);
    await run(opened, "read", some, 450);
    expect(some.subarray(0, 50).every((byte, index) => byte === pattern(450 + index))).toBe(true);
    expect(some.subarray(50, 150).every((byte) => byte === 9)).toBe(true);
  });

  test("bytes beyond the grant are neither read nor written, and the next transfer uses a new connection", async () => {
    const beyond = new Uint8Array(8192);
    const text = "cannot read 8192 bytes: the owner's device refuses it, although the grant is valid";
    await expect(run(opened, "read", beyond, size - 4096)).rejects.toThrow(text);
    expect(beyond.includes(0xee)).toBe(false);
    await expect(run(opened, "write", beyond, size - 4096)).rejects.toMatchObject({ code: "ERR_RDMA_FAULT" });
    await run(opened, "read", new Uint8Array(16));
  });

  test("a read-only grant is not written", async () => {
    const readable = await owner.grant(4096, "r");
    const reader = await open(owner, readable);
    await expect(run(reader, "write", new Uint8Array(16))).rejects.toMatchObject({ code: "ERR_RDMA_FAULT" });
    await expect(
      backend.open({ ...readable, access: "rw" }, owner.ask, new AbortController().signal),
    ).rejects.toMatchObject({ code: "ERR_RDMA_FORGED" });
    expect(await owner.tell({ kind: "bytes", slot: readable.slot, from: 0, to: 2 })).toEqual(
      Uint8Array.of(pattern(0), pattern(1)),
    );
  });

  test("the owner refuses a forged nonce, length or process before a device is used", async () => {
    const never = new AbortController().signal;
    const [word] = handle.nonce;
    const lies: [MemoryHandle, string][] = [
      [{ ...handle, nonce: [word, 1n] }, "ERR_RDMA_FORGED"],
      [{ ...handle, slot: 60_000 }, "ERR_RDMA_FORGED"],
      [{ ...handle, generation: handle.generation + 1 }, "ERR_RDMA_FORGED"],
      [{ ...handle, length: size + 1 }, "ERR_RDMA_FORGED"],
      [{ ...handle, process: { ...handle.process, started: handle.process.started + 1n } }, "ERR_RDMA_STALE"],
      [{ ...handle, process: { ...handle.process, machine: 5n } }, "ERR_RDMA_STALE"],
    ];
    for (const [lie, code] of lies) await expect(backend.open(lie, owner.ask, never)).rejects.toMatchObject({ code });
  });

  test("altered requests crash no process, and reach only the memory that they name", async () => {
    const never = new AbortController().signal;
    const fresh = new VerbsBackend(rdmaAddon(), { find: () => "forged" }, systemClock, "rxe0");
    let sound = new Uint8Array(0);
    const ask = async (request: Uint8Array): Promise<Uint8Array> => {
      sound = Uint8Array.from(request);
      return owner.ask(request);
    };
    await fresh.open(handle, ask, never);
    fresh.close();
    const { address } = accepted(await owner.ask(sound));
    let refused = 0;
    await withRandom(async (random) => {
      for (let index = 0; index < cases(40); index++) {
        const changed = Uint8Array.from(sound);
        for (let left = 1 + (index % 3); left > 0; left--) changed[random(changed.length)] = random(256);
        const answer = decodeAnswer(
          await owner.ask(changed.subarray(0, index % 5 === 0 ? random(changed.length) : undefined)),
        );
        if (typeof answer === "string" || "why" in answer) refused++;
        else {
          expect(answer.address).toBe(address);
          expect(changed.subarray(0, CLAIM_BYTES)).toEqual(sound.subarray(0, CLAIM_BYTES));
        }
      }
    });
    expect(refused).toBeGreaterThan(5);
    await run(opened, "read", new Uint8Array(16));
  });

  test("the device refuses a revoked grant, and reads of other grants on the same connection continue", async () => {
    const other = await owner.grant(size, "rw");
    const reader = await open(owner, other);
    await run(reader, "read", new Uint8Array(16));
    await owner.tell({ kind: "revoke", slot: other.slot });
    const [bytes, mine] = [new Uint8Array(size), new Uint8Array(size)];
    const ends = await Promise.allSettled([
      run(opened, "read", mine, 0),
      run(reader, "read", bytes),
      run(opened, "read", new Uint8Array(size)),
    ]);
    expect(ends.map((end) => end.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(ends[1]).toMatchObject({ reason: { code: "ERR_RDMA_REVOKED" } });
    expect(bytes.includes(0xdd)).toBe(false);
    expect(mine[size - 1]).toBe(pattern(size - 1));
  });

  test("the memory of a stopped owner can be read while a connection exists", async () => {
    // The previous test may have broken the connection, and a new one needs the owner.
    await run(opened, "read", new Uint8Array(16));
    owner.child.kill("SIGSTOP");
    try {
      const bytes = new Uint8Array(size);
      await run(opened, "read", bytes);
      expect(bytes[size - 1]).toBe(pattern(size - 1));
    } finally {
      owner.child.kill("SIGCONT");
    }
  });

  test("transfers that need a new connection to a stopped owner wait until their own time limits", async () => {
    // The owner's device refuses this read, which breaks the connection.
    const breaking = run(opened, "read", new Uint8Array(16), size, 2_000);
    owner.child.kill("SIGSTOP");
    try {
      const ends = await Promise.allSettled([
        breaking,
        run(opened, "read", new Uint8Array(32), 0, 1_000),
        run(opened, "write", new Uint8Array(16), 0, 1_500),
      ]);
      const texts = ends.map((end) => (end.status === "rejected" ? String(end.reason.message) : "done"));
      expect(texts).toEqual([
        "cannot read 16 bytes: it took longer than 2000 ms",
        "cannot read 32 bytes: it took longer than 1000 ms",
        "cannot write 16 bytes: it took longer than 1500 ms",
      ]);
    } finally {
      owner.child.kill("SIGCONT");
    }
    // The late answers to the earlier requests do no harm.
    await run(opened, "read", new Uint8Array(16));
    await run(opened, "write", new Uint8Array(16).fill(9), 500);
  });

  test("a cancelled transfer does not access the local view afterwards", async () => {
    const bytes = new Uint8Array(size);
    const reading = new TransferOperation("read", bytes, BigUint64Array.of(0n, 0n, BigInt(size)), size);
    const end = opened.transfer(reading);
    reading.cancel();
    await expect(end).rejects.toThrow(`cannot read ${size} bytes: it was cancelled`);
    bytes.fill(0);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(bytes.some((byte) => byte !== 0)).toBe(false);
  });

  test("all bytes arrive in spite of lost packets", async () => {
    for (const end of ["wire0", "wire1"]) tc("add", "dev", end, "root", "netem", "loss", "2%");
    try {
      const bytes = new Uint8Array(1 << 20);
      await run(opened, "read", bytes);
      expect(bytes.every((byte, index) => byte === pattern(index) || (index >= 500 && index < 600))).toBe(true);
      await run(opened, "write", bytes);
    } finally {
      for (const end of ["wire0", "wire1"]) tc("del", "dev", end, "root");
    }
  });

  test("transfers fail soon when their owner is killed", async () => {
    using mortal = new Owner("rxe1");
    const doomed = await open(mortal, await mortal.grant(size, "rw"));
    const all = Array.from({ length: 6 }, (_, index) =>
      run(doomed, index % 2 === 0 ? "read" : "write", new Uint8Array(size)).then(
        () => "done",
        (error: { code?: string }) => error.code,
      ),
    );
    mortal.child.kill("SIGKILL");
    const ends = await Promise.all(all);
    expect(ends.filter((code) => code !== "done" && code !== "ERR_RDMA_PEER_GONE")).toEqual([]);
    expect(ends).toContain("ERR_RDMA_PEER_GONE");
    await expect(run(doomed, "read", new Uint8Array(16))).rejects.toThrow(
      "cannot read 16 bytes: the owner cannot be reached: the owner has ended",
    );
    await run(opened, "read", new Uint8Array(16));
  });

  test("an owner frees the queue pairs of peers that have closed their connections", async () => {
    expect(pairs()).toBeGreaterThan(1);
    backend.close();
    for (let tries = 0; pairs() > 0 && tries < 200; tries++) await new Promise((resolve) => setTimeout(resolve, 100));
    expect(pairs()).toBe(0);
  });
});

/** Returns the number of queue pairs of all processes of this machine. */
function pairs(): number {
  return execFileSync("rdma", ["resource", "show", "qp"], { encoding: "utf8" }).match(/type RC/g)?.length ?? 0;
}

function accepted(bytes: Uint8Array): VerbsAnswer {
  const answer = decodeAnswer(bytes);
  if (typeof answer === "string" || "why" in answer) throw new Error(`refused: ${JSON.stringify(answer)}`);
  return answer;
}

function tc(verb: string, ...args: readonly string[]): void {
  execFileSync("tc", ["qdisc", verb, ...args]);
}

/** @param timeout in ms; 20 s are enough even in an emulated machine */
function run(
  opened: OpenedMemory,
  direction: TransferDirection,
  local: Uint8Array,
  remote = 0,
  timeout = 20_000,
): Promise<void> {
  const segments = { words: BigUint64Array.of(BigInt(remote), 0n, BigInt(local.length)), bytes: local.length };
  return runTransfer(direction, local, segments, { timeout }, systemClock, (operation) => opened.transfer(operation));
}
