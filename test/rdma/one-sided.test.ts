/**
 * Tests of one-sidedness: transfers without the owner, revocations that wait for writers, and reused memory that is
 * never read.
 */

import { RdmaBuffer } from "viceroy/rdma";
import { beforeAll, describe, expect, test } from "vitest";
import {
  by,
  codeOf,
  emulated,
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

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

for (const { transport, oneSided, allocated, skipped } of tested) {
  describe.skipIf(skipped)(`by ${transport}`, () => {
    test("a one-sided transport reads and writes memory of an owner that is stopped by SIGSTOP", async () => {
      await using owners = await vaultsIn(vaults, 1);
      const vault = owners.at(0);
      const buffer = await by(transport, await vault.make.callOne(allocated, 1_000_000, "rw"));
      const pid = await vault.pid.callOne();
      const bytes = new Uint8Array(1_000_000);
      process.kill(pid, "SIGSTOP");
      try {
        if (oneSided) {
          await buffer.readInto(bytes, { timeout: 100_000 });
          expectBytes(bytes, patternOf(vaults, 0, 1_000_000));
          await buffer.writeFrom(bytes.fill(3), { timeout: 100_000 });
          await buffer.readInto(bytes.fill(0), { timeout: 100_000 });
          expectBytes(bytes, new Uint8Array(1_000_000).fill(3));
        } else {
          expect(await codeOf(buffer.readInto(bytes, { timeout: 300 }))).toBe("ERR_RDMA_TIMEOUT");
        }
      } finally {
        process.kill(pid, "SIGCONT");
      }
      await buffer.readInto(bytes);
    });

    test("the event loop continues while transfers are awaited one after another", async () => {
      await using owners = await vaultsIn(vaults, 1);
      const buffer = await by(transport, await owners.at(0).make.callOne(allocated, 1 << 20, "r"));
      let turns = 0;
      let counting = true;
      const count = () => {
        turns++;
        if (counting) setImmediate(count);
      };
      setImmediate(count);
      const bytes = new Uint8Array(1 << 20);
      for (let i = 0; i < 48; i++) await buffer.readInto(bytes);
      for (let i = 0; i < 768; i++) await buffer.readInto(bytes.subarray(0, 1 << 16));
      counting = false;
      expect(turns).toBeGreaterThanOrEqual(12 - 1);
    });

    test("the new content of revoked memory is never read, whenever the owner revokes it", async () => {
      await using owners = await vaultsIn(vaults, 1);
      const size = long(6 << 20);
      await using memory = allocated ? RdmaBuffer.allocate(size) : RdmaBuffer.register(new Uint8Array(size));
      let reads = 0;
      // The pause grows until a read fits in between.
      for (let round = 0; round < 12 || reads === 0; round++) {
        memory.view.fill(0x11);
        const granted = memory.grant();
        const reading = owners.at(0).readUntil.callOne(granted, transport, 0x11);
        await pause((oneSided && !emulated ? 5 : 150) + 7 * round);
        await memory.revoke(granted);
        memory.view.fill(0xee);
        const { count, foreign, code } = await reading;
        expect({ foreign, code }).toEqual({ foreign: 0, code: "ERR_RDMA_REVOKED" });
        reads += count ?? 0;
      }
    });

    test("a revocation waits for writers, and no process writes afterwards", async () => {
      await using owners = await vaultsIn(vaults, 1);
      const size = long(6 << 20);
      await using memory = allocated ? RdmaBuffer.allocate(size) : RdmaBuffer.register(new Uint8Array(size));
      for (let round = 0; round < 8; round++) {
        const granted = memory.grant({ access: "rw" });
        const writing = owners.at(0).write.callOne(granted, transport, 0x22);
        while (memory.view[0] !== 0x22) await pause(1);
        await pause(3 * round);
        await memory.revoke(granted);
        memory.view.fill(0x11);
        await pause(20);
        expect(memory.view.every((byte) => byte === 0x11)).toBe(true);
        expect((await writing).code).toBe("ERR_RDMA_REVOKED");
      }
    });

    test.skipIf(!oneSided || transport === "verbs")(
      "a stopped writer delays the revocation, which reports it; a dead writer does not",
      async () => {
        using _ = ignoringFaults();
        await using owners = await vaultsIn(vaults, 1, true);
        const writer = owners.at(0);
        const pid = await writer.pid.callOne();
        const size = long(64 << 20);
        await using memory = allocated ? RdmaBuffer.allocate(size) : RdmaBuffer.register(new Uint8Array(size));
        let granted = memory;
        let writing = Promise.resolve("done");
        let code = "done";
        // The writer is inside a write most of the time, but not always.
        for (let tries = 0; tries < 20 && code === "done"; tries++) {
          memory.view[0] = 0;
          granted = memory.grant({ access: "rw" });
          writing = codeOf(writer.write.callOne(granted, transport, 0x22));
          while (memory.view[0] !== 0x22) await pause(1);
          process.kill(pid, "SIGSTOP");
          code = await codeOf(memory.revoke(granted, { timeout: 100 }));
          if (code !== "done") break;
          process.kill(pid, "SIGCONT");
          await writing;
        }
        expect(code).toBe("ERR_RDMA_TIMEOUT");
        await expect(memory.revoke(granted, { timeout: 0 })).rejects.toThrow(
          `cannot end a grant in time: process ${pid} is still writing, or was stopped while it wrote`,
        );
        process.kill(pid, "SIGKILL");
        await memory.revoke(granted);
        expect(await writing).not.toBe("done");
      },
    );
  });
}
