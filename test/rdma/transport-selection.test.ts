/** Tests of the selected transport of a buffer, and of the cached state of owners. */
import { readdirSync, readlinkSync } from "node:fs";
import { RdmaBuffer } from "viceroy/rdma";
import { beforeAll, describe, expect, test } from "vitest";
import {
  by,
  codeOf,
  emulated,
  expectBytes,
  hasAddon,
  ignoringFaults,
  loadVaults,
  type Vaults,
  vaultsIn,
} from "./vaults.js";

let vaults: Vaults;
beforeAll(async () => {
  vaults = await loadVaults();
});

function expected(offset: number, length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => vaults.pattern(offset + i));
}

/** Returns the files in /proc by which this process checks that owners are alive. */
function lives(): string[] {
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      const file = readlinkSync(`/proc/self/fd/${fd}`);
      return /^\/proc\/\d+\/comm$/.test(file) ? [file] : [];
    } catch {
      return [];
    }
  });
}

describe.skipIf(!hasAddon || emulated)("with several transports", () => {
  test("open selects another transport only if the current one is not allowed", async () => {
    await using owners = await vaultsIn(vaults, 1);
    const buffer = await by("stream", await owners.at(0).make.callOne(true, 2_000_000, "rw"));
    const [before, after] = [new Uint8Array(2_000_000), new Uint8Array(2_000_000)];
    const reading = buffer.readInto(before);
    await buffer.open({ transports: ["vm"] });
    expect(buffer).toMatchObject({ transport: "vm", oneSided: true });
    await Promise.all([reading, buffer.readInto(after)]);
    for (const bytes of [before, after]) expectBytes(bytes, expected(0, 2_000_000));
    await buffer.open();
    await buffer.open({ transports: ["shared", "vm"] });
    expect(buffer.transport).toBe("vm");
    await buffer.open({ transports: ["stream", "shared"] });
    expect(buffer.transport).toBe("shared");
    expectBytes((await buffer.map()).slice(5, 9), expected(5, 4));
  });

  test("of concurrent selections, the last one counts", async () => {
    await using owners = await vaultsIn(vaults, 1);
    const buffer = await owners.at(0).make.callOne(true, 1000, "rw");
    const [one, two] = [buffer.open({ transports: ["stream"] }), buffer.open({ transports: ["vm"] })];
    await Promise.all([one, two]);
    expect(buffer.transport).toBe("vm");
    const bad = buffer.open({ transports: ["smoke" as "vm"] });
    await expect(bad).rejects.toThrow('invalid transport: expected some of shared, vm, verbs, stream, got "smoke"');
    expect(buffer.transport).toBe("vm");
  });

  test("one file shows that an owner is alive, for all its handles, and is closed after the owner has ended", async () => {
    using _ = ignoringFaults();
    await using owners = await vaultsIn(vaults, 1, true);
    const vault = owners.at(0);
    const pid = await vault.pid.callOne();
    const own = () => lives().filter((file) => file === `/proc/${pid}/comm`).length;
    const buffer = await vault.make.callOne(true, 5000, "rw");
    const bytes = new Uint8Array(100);
    for (let i = 0; i < 50; i++) {
      const part = await vault.grant.callOne(i, 100, "r");
      await part.readInto(bytes);
      expectBytes(bytes, expected(i, 100));
      const again = await vault.echo.callOne(part);
      await again.readInto(bytes, { offset: 50, length: 50 });
      expectBytes(bytes.subarray(0, 50), expected(i + 50, 50));
      await vault.revoke.callOne(false, 1000);
      expect(await codeOf((await vault.echo.callOne(part)).open())).toBe("ERR_RDMA_REVOKED");
    }
    expect(own()).toBe(1);
    const [fresh, late] = [await vault.echo.callOne(buffer), await vault.echo.callOne(buffer)];
    process.kill(pid, "SIGKILL");
    expect(await codeOf(vault.pid.callOne())).not.toBe("done");
    await expect(fresh.open({ transports: ["vm"] })).rejects.toThrow(
      `cannot reach the memory of process ${pid}: it has ended`,
    );
    expect(await codeOf(late.open({ transports: ["shared"] }))).toBe("ERR_RDMA_PEER_GONE");
    expect(own()).toBe(0);
  });

  test("forged handles of a grant are not mistaken for the valid one", async () => {
    await using memory = RdmaBuffer.allocate(4096);
    memory.view.fill(3);
    await using owners = await vaultsIn(vaults, 1);
    const [whole, part] = [memory.grant({ access: "rw" }), memory.grant({ offset: 4000 })];
    for (const buffer of [whole, part, whole, part]) {
      const { bytes, code } = await owners.at(0).read.callOne(buffer, "shared", 96);
      expect({ code, same: bytes?.every((byte) => byte === 3) }).toEqual({ code: undefined, same: true });
      expect((await owners.at(0).read.callOne(buffer, "shared", 97)).code).toBe(
        buffer === whole ? undefined : "ERR_RDMA_BOUNDS",
      );
    }
  });
});
