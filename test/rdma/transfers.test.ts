/** The suite of tests that every transport passes. */

import { RdmaAction, RdmaBuffer, RdmaError } from "viceroy/rdma";
import { beforeAll, describe, expect, test } from "vitest";
import { until } from "../proc/until.js";
import {
  by,
  codeOf,
  expectBytes,
  ignoringFaults,
  loadVaults,
  long,
  patternOf,
  tested,
  type Vaults,
  vaultsIn,
} from "./vaults.js";

let vaults: Vaults;
beforeAll(async () => {
  vaults = await loadVaults();
});

const size = 5_000_000;

const expected = (offset: number, length: number): Uint8Array => patternOf(vaults, offset, length);

for (const { transport, oneSided, allocated, survives, skipped } of tested) {
  describe.skipIf(skipped)(`by ${transport}`, () => {
    test("bytes are read and written, and the buffer names its transport", async () => {
      await using owners = await vaultsIn(vaults, 1);
      const vault = owners.at(0);
      const buffer = await by(transport, await vault.make.callOne(allocated, size, "rw"));
      expect(buffer).toMatchObject({ transport, oneSided, size, access: "rw", owned: false });
      expect(String(buffer)).toBe(`RdmaBuffer(${size} bytes, rw, ${transport})`);

      const all = new Uint8Array(size);
      await buffer.readInto(all);
      expectBytes(all, expected(0, size));
      const some = new Uint8Array(1000);
      await buffer.readInto(some, { offset: 4321, length: 999 });
      expectBytes(some.subarray(0, 999), expected(4321, 999));
      expect(some[999]).toBe(0);

      await buffer.writeFrom(new Uint8Array(1_500_000).fill(7), { offset: 1_000_001 });
      expectBytes(await vault.bytes.callOne(1_000_000, 3), Uint8Array.of(vaults.pattern(1_000_000), 7, 7));
      await buffer.readInto(all);
      expectBytes(all.subarray(0, 1_000_001), expected(0, 1_000_001));
      expectBytes(all.subarray(1_000_001, 2_500_001), new Uint8Array(1_500_000).fill(7));
      expectBytes(all.subarray(2_500_001), expected(2_500_001, size - 2_500_001));
    });

    test("views of every type are filled at their own offset", async () => {
      await using owners = await vaultsIn(vaults, 1);
      const buffer = await by(transport, await owners.at(0).make.callOne(allocated, 4096, "r"));
      const memory = new ArrayBuffer(64);
      const floats = new Float64Array(memory, 16, 2);
      await buffer.readInto(floats, { offset: 8 });
      expectBytes(new Uint8Array(memory, 16, 16), expected(8, 16));
      expectBytes(new Uint8Array(memory, 0, 16), new Uint8Array(16));
      const shared = new Uint8Array(new SharedArrayBuffer(32), 8, 16);
      await buffer.readInto(shared);
      expectBytes(Uint8Array.from(shared), expected(0, 16));
    });

    test("a range outside of the buffer or the local view is refused, and no byte is transferred", async () => {
      await using owners = await vaultsIn(vaults, 1);
      const buffer = await by(transport, await owners.at(0).make.callOne(allocated, 100, "rw"));
      const local = new Uint8Array(200);
      await expect(buffer.readInto(local)).rejects.toThrow(
        "cannot transfer: 200 bytes from 0 on are not within the 100 of the buffer",
      );
      for (const options of [
        { offset: 1, length: 100 },
        { offset: 101, length: 0 },
        { offset: -1, length: 1 },
        { offset: 0.5, length: 1 },
        { offset: 2 ** 53, length: 1 },
        { offset: 0, length: Number.NaN },
        { length: 201 },
      ]) {
        expect(await codeOf(buffer.readInto(local, options))).toBe("ERR_RDMA_BOUNDS");
        expect(await codeOf(buffer.writeFrom(local, options))).toBe("ERR_RDMA_BOUNDS");
      }
      expectBytes(local, new Uint8Array(200));
      expectBytes(await owners.at(0).bytes.callOne(0, 100), expected(0, 100));
      await buffer.readInto(local, { offset: 100, length: 0 });
    });

    test("a grant gives access to its part of the memory only, and a read-only grant cannot be written", async () => {
      await using owners = await vaultsIn(vaults, 1);
      const vault = owners.at(0);
      await vault.make.callOne(allocated, 10_000, "rw");
      const part = await by(transport, await vault.grant.callOne(5000, 100, "r"));
      expect(part).toMatchObject({ size: 100, access: "r" });
      const bytes = new Uint8Array(100);
      await part.readInto(bytes);
      expectBytes(bytes, expected(5000, 100));
      await expect(part.writeFrom(bytes)).rejects.toThrow("cannot write 100 bytes: the buffer is read-only");
      expect(await codeOf(part.writeFrom(bytes))).toBe("ERR_RDMA_ACCESS");
      const writable = await by(transport, await vault.grant.callOne(6000, 10, "rw"));
      await writable.writeFrom(new Uint8Array(10).fill(1));
      expect(await vault.bytes.callOne(5999, 12)).toEqual(
        Uint8Array.of(vaults.pattern(5999), 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, vaults.pattern(6010)),
      );
    });

    test("a revoked grant is refused while the grant of the whole buffer is not; a dropped buffer is refused", async () => {
      await using owners = await vaultsIn(vaults, 1);
      const vault = owners.at(0);
      const buffer = await by(transport, await vault.make.callOne(allocated, 1000, "rw"));
      const sent = await vault.grant.callOne(0, 1000, "rw");
      const part = await by(transport, await vault.echo.callOne(sent));
      const unused = await vault.echo.callOne(sent);
      const bytes = new Uint8Array(1000).fill(99);
      expect(await vault.revoke.callOne(false, 5000)).toBe("");
      await expect(part.readInto(bytes)).rejects.toThrow(
        /^cannot read( 1000 bytes)?: its owner has revoked the grant$/,
      );
      expectBytes(bytes, new Uint8Array(1000).fill(99));
      expect(await codeOf(part.writeFrom(bytes))).toBe("ERR_RDMA_REVOKED");
      expect(await codeOf(unused.open({ transports: [transport] }))).toBe("ERR_RDMA_REVOKED");
      expect(await codeOf(unused.readInto(bytes))).toBe("ERR_RDMA_REVOKED");
      await buffer.readInto(bytes);
      expectBytes(bytes, expected(0, 1000));
      await vault.drop.callOne();
      expect(await codeOf(buffer.readInto(bytes))).toBe("ERR_RDMA_DROPPED");
      expect(await codeOf(buffer.writeFrom(bytes))).toBe("ERR_RDMA_DROPPED");
    });

    test("a process that has dropped a received buffer cannot use it, and other processes can", async () => {
      await using owners = await vaultsIn(vaults, 1);
      const sent = await owners.at(0).make.callOne(allocated, 1000, "r");
      const mine = await by(transport, sent);
      const other = await by(transport, await owners.at(0).echo.callOne(sent));
      await mine.drop();
      await mine.drop();
      await expect(mine.readInto(new Uint8Array(10))).rejects.toThrow("cannot read: the buffer was dropped here");
      await other.readInto(new Uint8Array(1000));
      {
        await using scoped = other;
        expect(scoped.size).toBe(1000);
      }
      expect(await codeOf(other.readInto(new Uint8Array(1)))).toBe("ERR_RDMA_DROPPED");
    });

    test("regions of several dimensions are transferred in both directions", async () => {
      await using owners = await vaultsIn(vaults, 1);
      const buffer = await by(transport, await owners.at(0).make.callOne(allocated, 64 * 64 * 4, "rw"));
      // The region is a block of 10 rows and 7 columns of a matrix of 64 x 64 items of 4 bytes.
      const region = { shape: [10, 7], item: 4, strides: [256, 4] };
      const block = new Uint8Array(280);
      await buffer.readInto(block, { offset: 3 * 256 + 5 * 4, region });
      const rows = Array.from({ length: 10 }, (_, row) => [...expected((3 + row) * 256 + 20, 28)]);
      expect([...block]).toEqual(rows.flat());
      // The columns are transposed by the transfer.
      const column = new Uint8Array(40);
      await buffer.readInto(column, {
        offset: 12,
        region: { shape: [5, 2], item: 4, strides: [256, 4], localStrides: [4, 20] },
      });
      const item = (row: number, index: number) => [...expected(row * 256 + 12 + index * 4, 4)];
      expect([...column]).toEqual([0, 1].flatMap((index) => [0, 1, 2, 3, 4].flatMap((row) => item(row, index))));
      await buffer.writeFrom(new Uint8Array(280).fill(1), { offset: 0, region });
      const after = new Uint8Array(64 * 64 * 4);
      await buffer.readInto(after);
      for (let i = 0; i < after.length; i++) {
        const inside = i >> 8 < 10 && (i & 255) < 28;
        if (after[i] !== (inside ? 1 : vaults.pattern(i))) expect.fail(`byte ${i} is ${after[i]}`);
      }
    });

    test("a transfer has started when the call returns, and reports its progress", async () => {
      await using owners = await vaultsIn(vaults, 1);
      const vault = owners.at(0);
      const length = long(24 << 20);
      const buffer = await by(transport, await vault.make.callOne(allocated, length, "rw"));
      const bytes = new Uint8Array(length);
      const seen: number[] = [];
      const reading = buffer.readInto(bytes, { onProgress: (moved, of) => seen.push(moved / of) });
      await until(() => bytes.at(-1) !== 0);
      expect(bytes.at(-1)).toBe(vaults.pattern(length - 1));
      await reading;
      expect(seen.at(-1)).toBe(1);
      expect(seen).toEqual([...seen].sort((a, b) => a - b));
    });

    test("a signal or a time limit cancels a transfer, which then does not access the local view any more", async () => {
      await using owners = await vaultsIn(vaults, 1);
      const length = long(64 << 20);
      const buffer = await by(transport, await owners.at(0).make.callOne(allocated, length, "rw"));
      const bytes = new Uint8Array(length);
      await expect(buffer.readInto(bytes, { signal: AbortSignal.abort(new Error("not now")) })).rejects.toThrow(
        "not now",
      );
      expect(bytes.every((byte) => byte === 0)).toBe(true);
      const stop = new AbortController();
      const reading = buffer.readInto(bytes, { signal: stop.signal });
      stop.abort(new Error("enough"));
      await expect(reading).rejects.toThrow("enough");
      bytes.fill(0);
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(bytes.every((byte) => byte === 0)).toBe(true);
      // On a busy machine, a transfer may be complete before this process checks its clock.
      let late: unknown;
      while (late === undefined) late = await buffer.readInto(bytes, { timeout: 0 }).catch((error: unknown) => error);
      expect(String(late)).toContain(`cannot read ${length} bytes: it took longer than 0 ms`);
      expect(late).toMatchObject({ code: "ERR_RDMA_TIMEOUT" });
    });

    test("an action runs several transfers to several processes, and cancels all when one fails", async () => {
      await using owners = await vaultsIn(vaults, 2);
      const buffers = await Promise.all(
        [0, 1].map(async (rank) => by(transport, await owners.at(rank).make.callOne(allocated, 100_000, "rw"))),
      );
      const [first, second] = buffers as [RdmaBuffer, RdmaBuffer];
      const into = [new Uint8Array(100_000), new Uint8Array(10)];
      const progress: [number, number][] = [];
      await new RdmaAction()
        .readInto(first, into[0]!)
        .readInto(second, into[1]!, { offset: 90 })
        .writeFrom(second, new Uint8Array(20).fill(3), { offset: 50_000 })
        .submit({ onProgress: (moved, bytes) => progress.push([moved, bytes]) });
      expectBytes(into[0]!, expected(0, 100_000));
      expectBytes(into[1]!, expected(90, 10));
      expectBytes(await owners.at(1).bytes.callOne(49_999, 3), Uint8Array.of(vaults.pattern(49_999), 3, 3));
      expect(progress.at(-1)).toEqual([100_030, 100_030]);
      await owners.at(1).revoke.callOne(true, 5000);
      const action = new RdmaAction().readInto(first, into[0]!).readInto(second, into[1]!);
      expect(await codeOf(action.submit())).toBe("ERR_RDMA_REVOKED");
      await expect(action.submit()).rejects.toThrow("cannot submit an RdmaAction: it was submitted already");
      await new RdmaAction().submit();
    });

    test("a buffer that is passed on between processes refers to the same memory", async () => {
      await using owners = await vaultsIn(vaults, 2);
      const sent = await owners.at(0).make.callOne(allocated, 3000, "r");
      const found = await owners.at(1).read.callOne(sent, transport, 3000);
      expect(found).toEqual({ bytes: expected(0, 3000), transport });
      const back = await owners.at(1).echoAll.callOne([sent, sent]);
      const bytes = new Uint8Array(3000);
      await (await by(transport, back[1]!)).readInto(bytes);
      expectBytes(bytes, expected(0, 3000));
    });

    test("memory of this process is accessible to other processes and to itself", async () => {
      await using owners = await vaultsIn(vaults, 1);
      await using own = allocated ? RdmaBuffer.allocate(1000) : RdmaBuffer.register(new Uint8Array(1000));
      own.view.fill(4);
      expect(own).toMatchObject({ transport: "local", oneSided: true, owned: true });
      const found = await owners.at(0).read.callOne(own, transport, 1000);
      expect(found).toEqual({ bytes: new Uint8Array(1000).fill(4), transport });
      const back = await by(transport, await owners.at(0).echo.callOne(own));
      const bytes = new Uint8Array(1000);
      await back.readInto(bytes);
      await own.writeFrom(bytes.fill(5));
      await back.readInto(bytes.fill(0));
      expectBytes(bytes, new Uint8Array(1000).fill(5));
    });

    test("many concurrent transfers do not affect each other", async () => {
      await using owners = await vaultsIn(vaults, 1);
      const buffer = await by(transport, await owners.at(0).make.callOne(allocated, 200_000, "rw"));
      const views = Array.from({ length: 64 }, () => new Uint8Array(100_000));
      await Promise.all(views.map((view, i) => buffer.readInto(view, { offset: i * 1000 })));
      for (const [i, view] of views.entries()) expectBytes(view, expected(i * 1000, 100_000));
    });

    test("errors are of class RdmaError, with a code", async () => {
      await using owners = await vaultsIn(vaults, 1);
      const buffer = await by(transport, await owners.at(0).make.callOne(allocated, 100, "rw"));
      const error = await buffer.readInto(new Uint8Array(101)).catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(RdmaError);
      expect(error).toMatchObject({ name: "RdmaError", code: "ERR_RDMA_BOUNDS" });
      await expect(buffer.readInto(7 as unknown as Uint8Array)).rejects.toThrow(
        "expected a view of memory, got number",
      );
      expect(() => buffer.view).toThrow(
        "cannot view: it is memory of another process: read it with readInto, or map it",
      );
      expect(() => buffer.grant()).toThrow("cannot grant part of an RdmaBuffer: only its owner can do so");
      await expect(buffer.revoke()).rejects.toThrow("cannot revoke a grant: only its owner can do so");
    });

    test("only memory of allocate can be mapped, and the view is the memory of the owner", async () => {
      await using owners = await vaultsIn(vaults, 1);
      const vault = owners.at(0);
      const buffer = await by(transport, await vault.make.callOne(allocated, 10_000, "rw"));
      if (transport !== "shared") {
        await expect(buffer.map()).rejects.toThrow(
          `cannot map an RdmaBuffer: transport ${transport} cannot map memory; only memory of RdmaBuffer.allocate can be mapped, on the machine of its owner`,
        );
        return;
      }
      const view = await buffer.map();
      expectBytes(view, expected(0, 10_000));
      await vault.fill.callOne(8);
      expect(view.every((byte) => byte === 8)).toBe(true);
      view[1] = 9;
      expectBytes(await vault.bytes.callOne(0, 3), Uint8Array.of(8, 9, 8));
      const part = await by(transport, await vault.grant.callOne(5000, 100, "r"));
      const own = await part.map();
      expectBytes(own, new Uint8Array(100).fill(8));
      own[0] = 1;
      expectBytes(await vault.bytes.callOne(5000, 1), Uint8Array.of(8));
    });

    test("readers get an error in time when their owner is killed", async () => {
      using _ = ignoringFaults();
      await using owners = await vaultsIn(vaults, 2, true);
      const mesh = owners.at(0);
      const length = long(64 << 20);
      const buffer = await by(transport, await mesh.make.callOne(allocated, length, "rw"));
      const fresh = await mesh.echo.callOne(buffer);
      const pid = await mesh.pid.callOne();
      const bytes = new Uint8Array(length);
      const reading = (async () => {
        for (let round = 0; ; round++) {
          await buffer.readInto(bytes, { timeout: 100_000 });
          if (survives && round > 0) return "done";
        }
      })();
      setTimeout(() => process.kill(pid, "SIGKILL"), 20);
      expect(await codeOf(reading)).toBe(survives ? "done" : "ERR_RDMA_PEER_GONE");
      // By then the links have reported the death of the owner.
      expect(await codeOf(mesh.pid.callOne())).not.toBe("done");
      expect(await codeOf(fresh.open({ transports: [transport] }))).toBe("ERR_RDMA_PEER_GONE");
      expect(await owners.at(1).pid.callOne()).toBeGreaterThan(0);
    });
  });
}
