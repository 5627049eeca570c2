/**
 * Tests of a driver on a machine that reaches one host alone: the kernel drops all other packets. Calls, casts, streams, failures and
 * code pass through this host; what hosts say to each other does not.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { type Machine, makeNetwork, networks } from "../../faults/network.js";
import { Program } from "../../faults/program.js";
import { compileCrew } from "../../proc/crew.js";
import { gone, limitUnderLoad, until } from "../../proc/until.js";
import { startHost } from "../start-host.js";

const token = "a token of more than enough characters";
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

describe.skipIf(!networks)("a laptop that reaches one of three hosts", () => {
  beforeAll(compileCrew);
  const net = networks ? makeNetwork(["laptop", "gateway", "one", "two"]) : undefined!;
  const daemonOn = (machine: Machine) =>
    startHost(`tcp://${machine.ip}:26600`, [], { VICEROY_TOKEN: token }, machine.through);

  async function cluster(absence: number) {
    for (const machine of Object.values(net)) machine.heal();
    net.laptop.reachOnly(net.gateway);
    const [gateway, one, two] = await Promise.all([daemonOn(net.gateway), daemonOn(net.one), daemonOn(net.two)]);
    const program = new Program(net.laptop, {
      addresses: [one.address, two.address],
      token,
      silence: 25_000,
      keepAlive: 2500,
      through: gateway.address,
      absence,
    });
    const { pids } = await program.started();
    return { gateway, one, two, program, pids };
  }

  test("no message is lost, repeated or refused while the laptop is cut off, and hosts outlive its absence", async () => {
    const { program, pids } = await cluster(60_000);
    // Longer than the keep-alive limit of hosts that are reached directly.
    net.laptop.isolate();
    await pause(4000);
    net.laptop.heal();
    net.laptop.reachOnly(net.gateway);
    await pause(500);
    net.laptop.reset();
    await pause(500);
    net.gateway.reset();
    await pause(500);
    const { violations, refused, taken } = await program.check();
    const failures = program.of("failure");
    expect({ violations, refused, failures }).toEqual({ violations: [], refused: {}, failures: [] });
    expect(taken).not.toContain(null);
    expect(pids.filter(gone)).toEqual([]);
    expect(await program.end()).toBe(0);
    await until(() => pids.every(gone));
  });

  test("a laptop that does not come back is forgotten after its absence, with all its processes", async () => {
    const { program, pids } = await cluster(limitUnderLoad(3000));
    program.child.kill("SIGKILL");
    net.laptop.isolate();
    await until(() => pids.every(gone));
  });

  test("the death of a process is known on the laptop", async () => {
    const { program, pids } = await cluster(60_000);
    process.kill(pids[0]!, "SIGKILL");
    await until(() => program.of("failure").length > 0);
    expect(program.of("failure")[0]!.why).toMatch(/SIGKILL/);
  });
});
