/** Tests of transfers between two machines that a cable connects, until one of them dies. */
import { execFileSync } from "node:child_process";
import { connect } from "node:net";
import { attachHosts } from "viceroy";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { by, codeOf, ignoringFaults, loadVaults, type Vaults } from "../../vaults.js";

const host = "10.78.0.1";
const port = 26_600;
const size = 2 << 20;
/** Time limits in ms for emulated machines, in which processes do not answer while they start. */
const patience = { timeout: 120_000, silence: 15_000, keepAlive: 120_000 };

describe("between two machines", () => {
  let vaults: Vaults;
  let hosts: ReturnType<typeof attachHosts>;

  beforeAll(async () => {
    await listening();
    vaults = await loadVaults();
    hosts = attachHosts([`tcp://${host}:${port}`], patience);
  });

  afterAll(() => hosts.stop().catch(() => undefined));

  function vault() {
    return hosts.spawnProcs({ vaults: 1 }).spawn("vaults", vaults.IronVault).slice({ hosts: 0, vaults: 0 });
  }

  test("memory is read and written through both devices, also with lost packets", async () => {
    const owner = vault();
    const buffer = await by("verbs", await owner.make.callOne(false, size, "rw"));
    expect(String(buffer)).toBe(`RdmaBuffer(${size} bytes, rw, verbs)`);
    const bytes = new Uint8Array(size);
    await buffer.readInto(bytes);
    expect(bytes.every((byte, index) => byte === vaults.pattern(index))).toBe(true);
    execFileSync("tc", ["qdisc", "add", "dev", "eth0", "root", "netem", "loss", "2%"]);
    await buffer.readInto(bytes.fill(0));
    expect(bytes.every((byte, index) => byte === vaults.pattern(index))).toBe(true);
    await written(() => buffer.writeFrom(new Uint8Array(300_000).fill(7)));
    execFileSync("tc", ["qdisc", "del", "dev", "eth0", "root"]);
    expect(await owner.bytes.callOne(299_999, 2)).toEqual(Uint8Array.of(7, vaults.pattern(300_000)));
  });

  test("the transport verbs is selected by default for memory of another machine", async () => {
    const buffer = await vault().make.callOne(true, 1000, "r");
    await buffer.readInto(new Uint8Array(1000));
    expect(buffer).toMatchObject({ transport: "verbs", oneSided: true });
  });

  test("a read fails with an error when the other machine dies", async () => {
    // Faults are ignored until the end, because the loss of the host is reported after the loss of its memory.
    ignoringFaults();
    const owner = vault();
    const buffer = await by("verbs", await owner.make.callOne(false, size, "r"));
    const bytes = new Uint8Array(size);
    const reading = (async () => {
      for (;;) await buffer.readInto(bytes);
    })();
    process.stdout.write("the other machine may die now\n");
    expect(await codeOf(reading)).toBe("ERR_RDMA_PEER_GONE");
    expect(await codeOf(buffer.readInto(bytes))).toBe("ERR_RDMA_PEER_GONE");
  });
});

/**
 * Writes, and repeats the write if the queue pair has broken. A queue pair breaks after 6 lost packets in a row, and
 * the outcome of a write is then unknown. Reads are repeated by the transport.
 */
async function written(write: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    const code = await codeOf(write());
    if (code === "done") return;
    expect([code, tries < 5]).toEqual(["ERR_RDMA_UNKNOWN", true]);
  }
}

/** Settles when the daemon of the other machine can be reached. */
async function listening(): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    const reached = await new Promise<boolean>((resolve) => {
      const socket = connect(port, host, () => resolve(true));
      socket.once("error", () => resolve(false));
      socket.once("connect", () => socket.destroy());
      setTimeout(() => socket.destroy(new Error("too late")), 1_000).unref();
    });
    if (reached) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`no process listens at ${host}:${port}`);
}
