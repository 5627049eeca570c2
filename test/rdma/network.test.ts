/**
 * Tests of the transport `stream` over a network that loses and delays packets, cuts connections and fails completely.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface, type Interface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { makeNetwork, networks } from "../faults/network.js";
import { startHost } from "../host/start-host.js";
import { loadVaults } from "./vaults.js";

const file = fileURLToPath(new URL("./programs/far.ts", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url));
const token = "a token of more than enough characters";

const running = new Set<ChildProcess>();
afterEach(() => {
  for (const child of running) child.kill("SIGKILL");
  running.clear();
});

describe.skipIf(!networks)("between machines", () => {
  beforeAll(loadVaults);
  const net = networks ? makeNetwork(["driver", "one", "two"]) : undefined!;

  /** The program on its machine, and its next line of output. */
  async function cluster(silence: number) {
    const daemons = [net.one, net.two].map((machine) =>
      startHost(`tcp://${machine.ip}:26600`, [], { VICEROY_TOKEN: token }, machine.through),
    );
    const addresses = (await Promise.all(daemons)).map(({ address }) => address);
    const command = [
      ...net.driver.through,
      process.execPath,
      "--import",
      "tsx",
      file,
      token,
      `${silence}`,
      ...addresses,
    ];
    const child = spawn(command[0]!, command.slice(1), { cwd: root, stdio: ["pipe", "pipe", "inherit"] });
    running.add(child);
    const lines = (createInterface(child.stdout) as Interface)[Symbol.asyncIterator]();
    const says = async () => JSON.parse(String((await lines.next()).value ?? '{"ended":true}')) as object;
    const order = (text: string) => child.stdin.write(`${text}\n`);
    expect(await says()).toEqual({ ready: true });
    return { says, order };
  }

  test("a transfer completes in spite of lost and delayed packets and cut connections", async () => {
    const { says, order } = await cluster(60_000);
    net.one.lose(3);
    net.two.lose(3);
    order("move 2000000");
    expect(await says()).toEqual({ same: true, written: true });
    for (const machine of [net.one, net.two]) machine.heal();
    net.two.delay();
    net.driver.delay();
    order("move 2000000");
    const late = says();
    // With 16 Mbit/s or a round trip of 40 ms, the transfer takes long enough.
    for (let i = 0; i < 3; i++) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      net.two.reset();
    }
    expect(await late).toEqual({ same: true, written: true });
    for (const machine of [net.driver, net.two]) machine.heal();
    order("end");
  });

  test("all readers get an error when a machine has not answered for the time limit", async () => {
    const { says, order } = await cluster(2000);
    order("hold 50000000");
    expect(await says()).toEqual({ holding: true });
    await new Promise((resolve) => setTimeout(resolve, 500));
    const begin = performance.now();
    net.two.isolate();
    expect(await says()).toEqual({ other: "ERR_RDMA_PEER_GONE", foreign: 0, own: "ERR_RDMA_PEER_GONE" });
    console.log(`found out within ${(performance.now() - begin).toFixed(0)} ms (silence 2000 ms)`);
    net.two.heal();
    order("end");
  });
});
