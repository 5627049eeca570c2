/**
 * Tests of the transport `stream` between hosts: over connections to the ports of processes, by TCP and TLS, and
 * without them.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { attachHosts, thisHost } from "viceroy";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startHost } from "../host/start-host.js";
import { Authority } from "../link/transport/tls/certificates.js";
import { by, codeOf, expectBytes, ignoringFaults, loadVaults, RdmaBuffer, type Vaults } from "./vaults.js";

let vaults: Vaults;
let authority: Authority;
beforeAll(async () => {
  vaults = await loadVaults();
  authority = new Authority();
});
afterAll(() => authority.remove());

const token = "a token of more than enough characters";
const size = 20_000_000;

type Kind = "tcp" | "tls";

/** Starts two hosts with one vault each. */
async function pair(kind: Kind, args: readonly string[] = []) {
  // The project is compiled before either host reads it, because each compilation writes the same files.
  const { cert, key, ca } = authority.issue("host");
  const files = kind === "tls" ? ["--cert", cert, "--key", key, "--ca", ca] : [];
  const start = () => startHost(`${kind}://127.0.0.1:0`, [...args, ...files], { VICEROY_TOKEN: token });
  const [one, two] = await Promise.all([start(), start()]);
  const tls = kind === "tls" ? { tls: authority.issue("driver") } : {};
  const hosts = attachHosts([one.address, two.address], { silence: 60_000, token, ...tls });
  const mesh = hosts.spawnProcs().spawn("vaults", vaults.IronVault);
  await mesh.ready;
  const [near, far] = [mesh.slice({ hosts: 0 }), mesh.slice({ hosts: 1 })];
  return { near, far, one, two, [Symbol.asyncDispose]: () => hosts.shutdown() };
}

function pattern(): Uint8Array {
  return Uint8Array.from({ length: size }, (_, i) => vaults.pattern(i));
}

describe.each<Kind>(["tcp", "tls"])("between hosts, by %s", (kind) => {
  test("a separate connection carries the bytes of the driver and of the hosts, in both directions", async () => {
    await using cluster = await pair(kind);
    const { near, far } = cluster;
    const sent = await far.make.callOne(false, size, "rw");
    const pid = await far.pid.callOne();
    const links = connectionsOf(pid);
    const buffer = await by("stream", sent);
    expect(connectionsOf(pid)).toBe(links + 1);
    const bytes = new Uint8Array(size);
    await buffer.readInto(bytes);
    expectBytes(bytes, pattern());
    await buffer.writeFrom(new Uint8Array(size - 2).fill(7), { offset: 1 });
    expectBytes(await far.bytes.callOne(0, 3), Uint8Array.of(vaults.pattern(0), 7, 7));
    const before = connectionsOf(pid);
    const found = await near.read.callOne(sent, "stream", 1000);
    expectBytes(found.bytes!.subarray(1), new Uint8Array(999).fill(7));
    // The transfer needs no link to the other process.
    expect(connectionsOf(pid)).toBe(before + 1);
    await buffer.readInto(bytes);
    expect(connectionsOf(pid)).toBe(before + 1);
  });

  test("calls do not wait behind memory bytes", async () => {
    await using cluster = await pair(kind);
    const { far } = cluster;
    const buffer = await by("stream", await far.make.callOne(false, 4 * size, "r"));
    const bytes = new Uint8Array(4 * size);
    const order: string[] = [];
    const reading = buffer.readInto(bytes).then(() => order.push("bulk"));
    const calls = (async () => {
      for (let i = 0; i < 5; i++) await far.pid.callOne();
      order.push("calls");
    })();
    await Promise.all([reading, calls]);
    expect(order).toEqual(["calls", "bulk"]);
  });

  test("a grant that is revoked during a read is refused, and a killed owner is detected in time", async () => {
    using _ = ignoringFaults();
    await using cluster = await pair(kind);
    const { near, far } = cluster;
    await far.make.callOne(false, size, "rw");
    await far.fill.callOne(3);
    const granted = await far.grant.callOne(0, size, "r");
    const reading = near.readUntil.callOne(granted, "stream", 3);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await far.revoke.callOne(false, 60_000)).toBe("");
    await far.fill.callOne(9);
    expect(await reading).toMatchObject({ code: "ERR_RDMA_REVOKED", foreign: 0 });
    const again = await far.grant.callOne(0, size, "r");
    const own = await by("stream", again);
    const [other, mine] = [near.readUntil.callOne(again, "stream", 9), readUntilItFails(own)];
    const pid = await far.pid.callOne();
    setTimeout(() => process.kill(pid, "SIGKILL"), 200);
    expect(await mine).toBe("ERR_RDMA_PEER_GONE");
    expect((await other).code).toBe("ERR_RDMA_PEER_GONE");
  });
});

describe.each<Kind>(["tcp", "tls"])("memory of the driver, by %s", (kind) => {
  test("is read by hosts, which cannot connect to the driver, over connections that the driver opens on request", async () => {
    await using cluster = await pair(kind);
    const { far, near } = cluster;
    await using own = RdmaBuffer.register(new Uint8Array(3_000_000).fill(6));
    const pid = await far.pid.callOne();
    const links = connectionsOf(pid);
    const { bytes, transport } = await far.read.callOne(own.grant(), "stream", 3_000_000);
    expect(transport).toBe("stream");
    expect(bytes!.every((byte) => byte === 6)).toBe(true);
    expect(connectionsOf(pid)).toBe(links + 1);
    // Each reading process has one connection, for all its reads.
    own.view.fill(7);
    const again = await Promise.all([far, near, far].map((one) => one.read.callOne(own.grant(), "stream", 3_000_000)));
    for (const { bytes } of again) expect(bytes!.every((byte) => byte === 7)).toBe(true);
    expect(connectionsOf(pid)).toBe(links + 1);
  });

  test("is refused after it was revoked, also during a read", async () => {
    await using cluster = await pair(kind);
    await using own = RdmaBuffer.register(new Uint8Array(size).fill(3));
    const granted = own.grant();
    const reading = cluster.far.readUntil.callOne(granted, "stream", 3);
    await new Promise((resolve) => setTimeout(resolve, 500));
    await own.revoke(granted);
    own.view.fill(9);
    expect(await reading).toMatchObject({ code: "ERR_RDMA_REVOKED", foreign: 0 });
  });
});

test("memory of other processes of the driver's machine is read by hosts in the same way", async () => {
  await using cluster = await pair("tls");
  await using procs = thisHost().spawnProcs();
  const own = procs.spawn("own", vaults.IronVault);
  const sent = await own.make.callOne(false, size, "r");
  const pid = await cluster.far.pid.callOne();
  const links = connectionsOf(pid);
  const { bytes } = await cluster.far.read.callOne(sent, "stream", size);
  expectBytes(bytes!, pattern());
  expect(connectionsOf(pid)).toBe(links + 1);
});

test("memory of the driver is read by calls if ports are blocked", async () => {
  await using cluster = await pair("tcp", ["--single-port"]);
  await using own = RdmaBuffer.register(new Uint8Array(3_000_000).fill(6));
  const { bytes } = await cluster.far.read.callOne(own.grant(), "stream", 3_000_000);
  expect(bytes!.every((byte) => byte === 6)).toBe(true);
  expect(connectionsOf(await cluster.far.pid.callOne())).toBe(0);
});

test("with --single-port, processes have no ports, and all connections go through the daemon", async () => {
  await using cluster = await pair("tcp", ["--single-port"]);
  const sent = await cluster.far.make.callOne(false, size, "rw");
  const bytes = new Uint8Array(size);
  const buffer = await by("stream", sent);
  await buffer.readInto(bytes);
  expectBytes(bytes, pattern());
  expect(connectionsOf(await cluster.far.pid.callOne())).toBe(0);
  expectBytes((await cluster.near.read.callOne(sent, "stream", 1000)).bytes!, pattern().subarray(0, 1000));
});

async function readUntilItFails(buffer: RdmaBuffer): Promise<string> {
  const bytes = new Uint8Array(buffer.size);
  return codeOf(
    (async () => {
      for (;;) await buffer.readInto(bytes);
    })(),
  );
}

/** Returns the number of TCP connections of a process. */
function connectionsOf(pid: number): number {
  const own = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        return [];
      }
    }),
  );
  const established = "01";
  const rows = ["tcp", "tcp6"].flatMap((name) => readFileSync(`/proc/${pid}/net/${name}`, "utf8").trim().split("\n"));
  const cells = rows.map((row) => row.trim().split(/\s+/));
  return cells.filter((row) => row[3] === established && own.has(row[9]!)).length;
}
