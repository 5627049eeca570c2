/** Tests of forged handles: each is refused with the right code, and none reads a byte. */
import { readdirSync, readlinkSync } from "node:fs";
import { inspect } from "node:util";
import { codec } from "viceroy";
import { RdmaBuffer, type Transport } from "viceroy/rdma";
import { beforeAll, describe, expect, test } from "vitest";
import { systemClock, systemRandom } from "../../runtime/link/clock.js";
import { ownMachineId } from "../../runtime/machine-id.js";
import { GrantState, SLOT_COUNT } from "../../runtime/rdma/grant/grant-slot.js";
import { GrantTable } from "../../runtime/rdma/grant/grant-table.js";
import { GrantedMemory } from "../../runtime/rdma/grant/granted-memory.js";
import { ownStartTime } from "../../runtime/rdma/grant/start-time.js";
import { cases } from "../profile.js";
import { type Random, withRandom } from "../random.js";
import {
  by,
  codeOf,
  emulated,
  expectBytes,
  hasAddon,
  loadVaults,
  patternOf,
  tested,
  type Vaults,
  vaultsIn,
} from "./vaults.js";

const handles = codec.rdmaBuffer<RdmaBuffer>();

/** Offsets of the fields of a handle, from their end. */
const Field = {
  machine: 60,
  pid: 52,
  started: 48,
  slot: 36,
  generation: 32,
  nonce: 28,
  length: 12,
  access: 4,
} as const;

/** Returns a handle with one field changed. */
function forge(buffer: RdmaBuffer, field: keyof typeof Field, change: (value: number) => number): RdmaBuffer {
  const bytes = Uint8Array.from(handles.encode(buffer));
  const view = new DataView(bytes.buffer);
  // The parts of transports follow the fields.
  const parts = Object.values(buffer.handle.transportParts).reduce((sum, part) => sum + 4 + part.length, 0);
  const at = bytes.length - parts - Field[field];
  view.setUint32(at, change(view.getUint32(at, true)) >>> 0, true);
  return handles.decode(bytes);
}

let vaults: Vaults;
beforeAll(async () => {
  vaults = await loadVaults();
});

describe("handles", () => {
  test("have at most 256 bytes", async () => {
    await using buffer = RdmaBuffer.allocate(2 ** 20);
    expect(handles.encode(buffer).length).toBeLessThanOrEqual(256);
  });

  test("that are invalid are refused on arrival", () => {
    const bytes = handles.encode(RdmaBuffer.register(new Uint8Array(8)));
    expect(() => forge(handles.decode(bytes), "length", () => 0)).toThrow("invalid memory handle");
    expect(() => forge(handles.decode(bytes), "pid", () => 0)).toThrow("invalid memory handle");
    expect(() => forge(handles.decode(bytes), "access", (word) => word | 7)).toThrow("invalid memory handle");
    expect(() => forge(handles.decode(bytes), "access", (word) => word + 0x0100)).toThrow("the message ends too early");
    expect(() => handles.encode({} as RdmaBuffer)).toThrow("expected an RdmaBuffer, got an object");
  });
});

for (const { transport, allocated, skipped } of tested) {
  describe.skipIf(skipped)(`by ${transport}`, () => {
    test("each forged field is refused with its own code", async () => {
      await using owners = await vaultsIn(vaults, 1);
      const vault = owners.at(0);
      const good = await vault.make.callOne(allocated, 10_000, "r");
      const tried = async (buffer: RdmaBuffer) => {
        const local = new Uint8Array(16).fill(77);
        const code = await codeOf(buffer.open({ transports: [transport] }).then(() => buffer.readInto(local)));
        expectBytes(local, new Uint8Array(16).fill(77));
        return code;
      };
      expect(await tried(forge(good, "nonce", (word) => word ^ 1))).toBe("ERR_RDMA_FORGED");
      expect(await tried(forge(good, "generation", (count) => count + 1))).toBe("ERR_RDMA_FORGED");
      expect(await tried(forge(good, "generation", () => 0))).toBe("ERR_RDMA_FORGED");
      expect(await tried(forge(good, "slot", (slot) => slot + 1))).toBe("ERR_RDMA_FORGED");
      expect(await tried(forge(good, "slot", () => 0))).toBe("ERR_RDMA_FORGED");
      expect(await tried(forge(good, "slot", () => 0xffff_ffff))).toBe("ERR_RDMA_FORGED");
      expect(await tried(forge(good, "length", (bytes) => bytes + 1))).toBe("ERR_RDMA_FORGED");
      expect(await tried(forge(good, "access", (word) => word | 1))).toBe("ERR_RDMA_FORGED");
      // Another process has the process id now.
      expect(await tried(forge(good, "started", (ticks) => ticks + 1))).toBe("ERR_RDMA_STALE");
      const bytes = new Uint8Array(16);
      await (await by(transport, good)).readInto(bytes);
      expectBytes(bytes, patternOf(vaults, 0, 16));
    });

    // With verbs, the owner checks a request. machine/inside/devices.ts tests altered requests.
    test.skipIf(transport === "verbs")(
      "altered handles crash no process, and read only the memory that they name",
      async () => {
        if (transport === "stream") return withRandom(fuzzOwner);
        await using owners = await vaultsIn(vaults, 1);
        const good = handles.encode(await owners.at(0).make.callOne(allocated, 4096, "r"));
        const local = new Uint8Array(4096);
        const pattern = patternOf(vaults, 0, 4096);
        const untouched = new Uint8Array(4096).fill(77);
        let refused = 0;
        const tries = cases(4000, 1_000_000);
        await withRandom(async (random) => {
          for (let i = 0; i < tries; i++) {
            const bytes = Uint8Array.from(good);
            for (let left = 1 + (i % 3); left > 0; left--) bytes[random(bytes.length)] = random(256);
            local.fill(77);
            const went = await readWith(bytes, transport, local);
            if (!went) refused++;
            const wanted = went ? pattern : untouched;
            if (Buffer.compare(local, wanted) === 0) continue;
            const at = local.findIndex((byte, index) => byte !== wanted[index]);
            expect.fail(`byte ${at} of case ${i} is ${local[at]}: ${Buffer.from(bytes).toString("hex")}`);
          }
        });
        expect(refused).toBeGreaterThan(tries / 4);
        expect(await owners.at(0).pid.callOne()).toBeGreaterThan(0);
      },
    );
  });
}

test.skipIf(emulated || !hasAddon)("a forged start time does not remove the mapped table of the owner", async () => {
  await using owners = await vaultsIn(vaults, 1);
  const good = await by("shared", await owners.at(0).make.callOne(true, 16, "r"));
  const watched = `/proc/${await owners.at(0).pid.callOne()}/comm`;
  const kept = () => readdirSync("/proc/self/fd").filter((fd) => linkOf(fd) === watched);
  const before = kept();
  expect(before).toHaveLength(1);
  expect(await codeOf(forge(good, "started", (word) => word + 1).open())).toBe("ERR_RDMA_STALE");
  expect(kept()).toEqual(before);
});

function linkOf(fd: string): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return undefined;
  }
}

test("handles from before a reboot are refused by every transport", async () => {
  await using owners = await vaultsIn(vaults, 1);
  const good = await owners.at(0).make.callOne(true, 10, "r");
  const before = forge(good, "machine", (word) => word ^ 1);
  await expect(before.open()).rejects.toThrow(
    "cannot open: the handle belongs to a grant or a process that no longer exists; ask the owner for a new one",
  );
  expect(await codeOf(before.open())).toBe("ERR_RDMA_STALE");
});

test.skipIf(emulated)("a handle of an earlier use of a slot is refused", async () => {
  const table = new GrantTable(undefined, systemClock, systemRandom);
  const memory = { bytes: new Uint8Array(8), address: undefined, file: undefined };
  const add = () => table.add(memory, 0, 8, "r");
  const first = add();
  const others = Array.from({ length: SLOT_COUNT - 2 }, add);
  expect(add).toThrow(`cannot grant memory: there are ${SLOT_COUNT - 1} grants; revoke or drop some`);
  table.markEnded(first, GrantState.revoked);
  expect(table.find(first)).toBe("revoked");
  await table.whenWritersDone(first, new AbortController().signal);
  table.freeSlot(first);
  expect(table.find(first)).toBe("revoked");
  const again = add();
  expect(again.slot).toBe(first.slot);
  expect(table.find(first)).toBe("stale");
  expect(table.find(again)).toBe(again);
  expect(table.find({ ...again, nonce: first.nonce })).toBe("forged");
  expect(new Set([first, again, ...others].map(({ nonce }) => nonce.join())).size).toBe(SLOT_COUNT);
});

/** Claims of all kinds in messages to an owner. */
function fuzzOwner(random: Random): void {
  const table = new GrantTable(undefined, systemClock, systemRandom);
  const bytes = new Uint8Array(64).fill(77);
  bytes.subarray(16, 32).fill(1);
  const grant = table.add({ bytes, address: undefined, file: undefined }, 16, 16, "rw");
  const service = new GrantedMemory(table);
  const good = {
    slot: grant.slot,
    generation: grant.generation,
    nonce0: grant.nonce[0],
    nonce1: grant.nonce[1],
    machine: ownMachineId(),
    pid: process.pid,
    started: ownStartTime(),
    length: 16,
    writable: true,
  };
  expect(service.read(good, 0, 16)).toEqual({ bytes: new Uint8Array(16).fill(1) });
  expect(service.write({ ...good, writable: false }, 0, new Uint8Array(1))).toEqual({ refused: "access" });
  const odd = [0, 1, 15, 16, 17, -1, 0.5, 2 ** 31, 2 ** 32 - 1, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY];
  const any = () => odd[random(odd.length)]!;
  for (let i = 0; i < cases(50_000, 1_000_000); i++) {
    const claim = { ...good };
    if (i % 2 === 0) {
      const lie = Object.keys(good)[random(9)] as keyof typeof good;
      Object.assign(claim, { [lie]: typeof good[lie] === "bigint" ? BigInt(random(2 ** 31)) : any() });
    }
    const offset = any();
    const length = any();
    const answer = service.read(claim, offset, length);
    const said = () => inspect({ ...claim, offset, length });
    if (answer.refused === undefined && answer.bytes?.every((byte) => byte === 1) !== true)
      expect.fail(`case ${i}: ${said()}`);
    if (answer.refused === undefined && !(offset >= 0 && offset + length <= 16))
      expect.fail(`case ${i} left the grant: ${said()}`);
    service.write(claim, offset, new Uint8Array(random(40)).fill(1));
  }
  expectBytes(bytes.subarray(0, 16), new Uint8Array(16).fill(77));
  expectBytes(bytes.subarray(32), new Uint8Array(32).fill(77));
}

async function readWith(bytes: Uint8Array, transport: Transport, local: Uint8Array): Promise<boolean> {
  try {
    const buffer = handles.decode(bytes);
    if (buffer.size < local.length) return false;
    await buffer.open({ transports: [transport] });
    await buffer.readInto(local);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(Error);
    return false;
  }
}
