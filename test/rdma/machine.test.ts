/**
 * Tests of the transport `verbs` on RDMA devices of virtual machines, whose kernel provides the devices over Ethernet.
 * The tests inside of the machines are in machine/inside and in the suite that all transports pass.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { addonFile } from "../../native/addon-location.js";
import { boot, bootLimit, boots, type MachineEnd } from "./machine/machine.js";
import { machineParts } from "./machine/parts.js";
import { suite } from "./machine/suite.js";
import type { Outcome } from "./machine/vitest.js";

const parts = machineParts();
const addon = addonFile("rdma");
if (parts !== undefined && !existsSync(addon) && process.env["VICEROY_PEERS"] === "required") {
  throw new Error(
    `cannot test RDMA devices: there is no addon at ${addon}. Run \`node dist/cli/viceroy.js setup --rdma\``,
  );
}

/**
 * Time limit in ms. On two idle cores the tests take a tenth of it, but machines are emulated and other tests run, too.
 */
const timeLimit = 400_000;
/** The time for booting two machines one after the other is added. */
const limit = timeLimit + 2 * boots * bootLimit + 60_000;
const environment = {
  VICEROY_RDMA_ADDON: addon,
  VICEROY_PEERS: "required",
  VICEROY_TEST_RDMA: "verbs",
  VICEROY_TEST_EMULATED: "1",
};

describe.skipIf(parts === undefined || !existsSync(addon))("RDMA devices", { timeout: limit }, () => {
  test("enforce grants, and carry transfers of every kind", async () => {
    const devices = await suite("devices", ["machine/inside/devices.ts"], ["machine/inside/owner.ts"]);
    const transfers = await suite("transfers", ["transfers.test.ts", "one-sided.test.ts", "safety.test.ts"]);
    const command = `node ${devices}; node ${transfers}`;
    const machine = await boot(parts!, { command, rdma: "wire", timeLimit, environment });
    expectPassed(await machine.end, 25);
  });

  test("connect two machines until one of them dies", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "viceroy-cable-"));
    const cable = path.join(folder, "cable");
    const program = await suite("peers", ["machine/inside/peers.ts"]);
    const daemon = "node dist/cli/viceroy.js host --listen tcp://10.78.0.1:26600 --insecure";
    const options = { timeLimit, environment };
    const other = await boot(parts!, { ...options, command: daemon, rdma: { end: "listens", path: cable } });
    try {
      while (!existsSync(cable)) await Promise.race([new Promise((resolve) => setTimeout(resolve, 50)), other.end]);
      const one = await boot(parts!, {
        ...options,
        command: `node ${program}`,
        rdma: { end: "connects", path: cable },
      });
      await one.printed("the other machine may die now");
      // The other machine is killed during a read.
      await new Promise((resolve) => setTimeout(resolve, 300));
      other.kill();
      expectPassed(await one.end, 3);
      expect((await other.end).code).toBeUndefined();
    } finally {
      other.kill();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

/** @param least the minimum number of tests */
function expectPassed({ code, stdout, stderr, console: kernel }: MachineEnd, least: number): void {
  // After a timeout the console lists the state of each process: first those of the system, last those of the tests.
  const said = `${stdout}${stderr}\nConsole: ${code === undefined ? kernel : kernel.slice(-2000)}`;
  const lines = stdout.split("\n").filter((line) => line.startsWith("{"));
  const outcomes = lines.map((line) => JSON.parse(line) as Outcome);
  const failures = outcomes.filter(({ error }) => error !== undefined);
  expect(failures, said).toEqual([]);
  expect(code, said).toBe(0);
  expect(outcomes.length, said).toBeGreaterThanOrEqual(least);
}
