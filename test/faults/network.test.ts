/** Tests under load with real faults: the kernel drops and delays packets, and signals stop and kill processes. */
import { beforeAll, describe, expect, test } from "vitest";
import { startHost } from "../host/start-host.js";
import { compileCrew } from "../proc/crew.js";
import { gone, until } from "../proc/until.js";
import { cases } from "../profile.js";
import { type Machine, makeNetwork, networks } from "./network.js";
import { Program } from "./program.js";

const token = "a token of more than enough characters";
/** The silence limit in ms. It is long enough for a busy machine to answer. */
const short = { silence: 2000, keepAlive: 2500 };
/** Duration of each fault in ms. */
const spell = cases(1000, 3000);
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

describe.skipIf(!networks)("a driver and two hosts, each on a machine of its own", () => {
  beforeAll(compileCrew);
  const net = networks ? makeNetwork(["driver", "one", "two"]) : undefined!;
  const daemonOn = (machine: Machine) =>
    startHost(`tcp://${machine.ip}:26600`, [], { VICEROY_TOKEN: token }, machine.through);

  async function cluster(times: { readonly silence: number; readonly keepAlive: number }) {
    for (const machine of Object.values(net)) machine.heal();
    const [one, two] = await Promise.all([daemonOn(net.one), daemonOn(net.two)]);
    const start = () => new Program(net.driver, { addresses: [one.address, two.address], token, ...times });
    const program = start();
    const { pids } = await program.started();
    return { one, two, program, pids, start };
  }

  test("faults shorter than the silence limit have no effect: no message is lost, repeated or refused", async () => {
    const { one, two, program } = await cluster({ silence: 25_000, keepAlive: 25_000 });
    const daemon = one.child.pid!;
    const proc = (await program.started()).pids[1]!;
    const stopped = async (pid: number) => {
      process.kill(pid, "SIGSTOP");
      await pause(spell);
      process.kill(pid, "SIGCONT");
    };
    const scenarios: Record<string, () => Promise<void> | void> = {
      "packets are lost": async () => {
        net.one.lose(8);
        net.two.lose(3);
        await pause(spell);
      },
      "packets are late": async () => {
        net.driver.delay();
        net.one.delay();
        await pause(spell);
      },
      "packets of the driver do not arrive": async () => {
        net.one.dropFrom(net.driver);
        await pause(spell);
      },
      "packets to the driver do not arrive": async () => {
        net.one.dropTo(net.driver);
        await pause(spell);
      },
      "hosts do not hear each other, one way": async () => {
        net.two.dropFrom(net.one);
        await pause(spell);
      },
      "a host is cut off": async () => {
        net.two.isolate();
        await pause(spell);
      },
      "connections are reset, again and again": async () => {
        for (let i = 0; i < cases(4, 12); i++) {
          net[i % 2 === 0 ? "one" : "two"].reset();
          await pause(300);
        }
      },
      "connections are refused for a while": async () => {
        net.one.refuse();
        await pause(spell);
      },
      "the daemon is stopped for a while": () => stopped(daemon),
      "a process is stopped for a while": () => stopped(proc),
      "the driver is stopped for a while": () => stopped(program.child.pid!),
      "a whole host is stopped for a while": async () => {
        net.two.signal("SIGSTOP");
        await pause(spell);
        net.two.signal("SIGCONT");
      },
    };
    let done = 0;
    for (const [what, happens] of Object.entries(scenarios)) {
      await happens();
      for (const machine of Object.values(net)) machine.heal();
      const checked = await program.check();
      const { refused, violations } = checked;
      const failures = program.of("failure");
      expect({ what, failures, refused, violations }).toEqual({
        what,
        failures: [],
        refused: {},
        violations: [],
      });
      console.log(`${what}: ${checked.done - done} operations, ${checked.taken.join(" ")} messages in all`);
      done = checked.done;
      program.go();
    }
    await program.check();
    expect(await program.end()).toBe(0);
    await until(() => net.one.pids.length === 1 && net.two.pids.length === 1);
    expect([one.child.exitCode, two.child.exitCode]).toEqual([null, null]);
  });

  /** Checks that everything on host `two` is lost once, `one` continues, and every started operation ends. */
  async function lostTwo(program: Program, why: RegExp) {
    await until(() => program.of("failure").length >= 2);
    const checked = await program.check();
    const failures = program.of("failure");
    expect(failures.map(({ mesh, ranks }) => [mesh, ranks])).toEqual([
      ["procs", [2]],
      ["procs", [3]],
    ]);
    for (const failure of failures) expect(failure.why).toMatch(why);
    expect(Object.keys(checked.refused)).toContain("SupervisionError");
    expect(checked.violations).toEqual([]);
    expect(checked.taken.map((taken) => taken !== null)).toEqual([true, true, false, false]);
    return checked;
  }

  const silent = /^host tcp:\/\/10\.213\.0\.3:26600 is gone: it has not answered for 2000 ms: /;

  const outOfReach: [string, () => void][] = [
    ["packets to it do not arrive", () => net.two.dropFrom(net.driver)],
    ["it is cut off", () => net.two.isolate()],
    ["connections to it are refused", () => net.two.refuse()],
    ["packets from it do not arrive", () => net.two.dropTo(net.driver)],
    ["all of it is stopped", () => net.two.signal("SIGSTOP")],
  ];

  // Each test takes long, so the short profile runs only two of them.
  test.each(outOfReach.slice(-cases(2, 5)))(
    "a host that is unreachable for longer is lost once, and ends its processes: %s",
    async (_, happens) => {
      const { one, two, program, pids, start } = await cluster(short);
      const begin = performance.now();
      happens();
      await until(() => program.of("failure").length > 0);
      console.log(`found out within ${(performance.now() - begin).toFixed(0)} ms (silence ${short.silence} ms)`);
      await lostTwo(program, silent);
      net.two.heal();
      net.two.signal("SIGCONT");
      await until(() => pids.slice(2).every(gone));
      await until(() => net.two.pids.length === 1 && two.drivers().length === 0);
      expect(pids.slice(0, 2).some(gone)).toBe(false);
      // The host is reachable again, and accepts another driver.
      const next = start();
      await next.started();
      const { refused, violations, done } = await next.check();
      expect([refused, violations]).toEqual([{}, []]);
      expect(done).toBeGreaterThan(0);
      expect(program.of("failure").length).toBe(2);
      expect([await next.end(), await program.end()]).toEqual([0, 0]);
      await until(() => net.one.pids.length === 1 && net.two.pids.length === 1);
      expect([one.child.exitCode, two.child.exitCode]).toEqual([null, null]);
    },
  );

  test("only the processes of a killed daemon end with it", async () => {
    const { two, program } = await cluster(short);
    two.child.kill("SIGKILL");
    await lostTwo(program, /^host tcp:\/\/10\.213\.0\.3:26600 is gone: /);
    await until(() => net.two.pids.length === 0);
    expect(await program.end()).toBe(0);
    await until(() => net.one.pids.length === 1);
  });

  test("a killed process is one failure of its rank only", async () => {
    const { program, pids } = await cluster({ silence: 25_000, keepAlive: 25_000 });
    process.kill(pids[2]!, "SIGKILL");
    await until(() => program.of("failure").length > 0);
    const checked = await program.check();
    const failures = program.of("failure");
    expect(failures.map(({ mesh, ranks }) => [mesh, ranks])).toEqual([["procs", [2]]]);
    expect(failures[0]!.why).toContain("SIGKILL");
    expect(checked.violations).toEqual([]);
    expect(checked.taken.map((taken) => taken !== null)).toEqual([true, true, false, true]);
    expect(await program.end()).toBe(0);
    await until(() => net.one.pids.length === 1 && net.two.pids.length === 1);
  });

  test("a driver that is killed or disconnected under load leaves no process on any host", async () => {
    const { program, start, one, two } = await cluster(short);
    program.child.kill("SIGKILL");
    await until(() => net.one.pids.length === 1 && net.two.pids.length === 1 && net.driver.pids.length === 0);
    const next = start();
    await next.started();
    net.driver.isolate();
    await until(() => net.one.pids.length === 1 && net.two.pids.length === 1);
    await until(() => next.of("failure").length === 4);
    expect((await next.check()).violations).toEqual([]);
    expect(await next.end()).toBe(0);
    await until(() => net.driver.pids.length === 0);
    expect([one.drivers(), two.drivers()]).toEqual([[], []]);
  });
});
