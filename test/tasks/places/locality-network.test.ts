/** Counts the bytes that machines receive while tasks read a large result that is on one of them. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { makeNetwork, networks } from "../../faults/network.js";
import { startHost } from "../../host/start-host.js";

const program = fileURLToPath(new URL("programs/read-where-data-is.ts", import.meta.url));
const token = "a token of more than enough characters";
const size = 8 * 2 ** 20;

describe.skipIf(!networks)("a program and two hosts, each on a machine of its own", () => {
  const net = networks ? makeNetwork(["driver", "one", "two"]) : undefined!;

  test("tasks that read a large result move none of its bytes, unless they must run elsewhere", async () => {
    const env = { VICEROY_TOKEN: token };
    const machines = [net.one, net.two];
    const daemons = await Promise.all(
      machines.map((machine) => startHost(`tcp://${machine.ip}:26600`, [], env, machine.through)),
    );
    const [file, ...through] = [...net.driver.through, process.execPath, "--import", "tsx", program];
    const args = [...through, ...daemons.map(({ address }) => address), String(size)];
    const child = spawn(file!, args, { stdio: ["pipe", "pipe", "inherit"], env: { ...process.env, ...env } });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const print = async () => JSON.parse((await lines.next()).value);
    /** Lets the program go on, and returns the bytes that each machine receives until it prints that it has read the result ten times. */
    const receivedInPart = async () => {
      const before = Object.values(net).map((machine) => machine.receivedBytes);
      child.stdin.write("next\n");
      expect(await print()).toEqual({ read: 10 * size });
      return Object.values(net).map((machine, i) => machine.receivedBytes - before[i]!);
    };
    expect(await print()).toBe("ready");
    const anywhere = [await receivedInPart(), await receivedInPart(), await receivedInPart()];
    const onFirst = await receivedInPart();
    // Orders, outcomes and what keeps connections alive are far less than one copy. On a busy machine, a task can go to the other host once.
    const most = anywhere.map((received) => Math.max(...received));
    expect(Math.min(...most)).toBeLessThan(size / 64);
    const [driver, one, two] = onFirst;
    expect(one).toBeGreaterThan(size);
    expect(Math.max(driver!, two!)).toBeLessThan(size / 64);
    child.kill("SIGKILL");
  });
});
