/**
 * Tests of a simulated driver that reaches one host alone, the gateway, and through it the hosts `n0` and `n1`: absences of a minute, in virtual
 * time, and faults of every connection.
 */
import { describe, expect, test } from "vitest";
import { attachRoutedHosts } from "../../runtime/host/attach-hosts.js";
import { type AttachOptions, attachHosts, type HostMesh, onUnhandledFault } from "../../runtime/index.js";
import { currentRuntime } from "../../runtime/proc/process/current-runtime.js";
import { type ProcessView, type Simulation, simulate } from "../../runtime/testing/index.js";
import { Counter, type CounterMesh } from "../actor/counter.js";
import { cases } from "../profile.js";

const token = "of the simulated cluster";
const forever = 1_000_000_000;

/** Attaches two hosts that the driver does not reach itself. */
function behindGateway(simulation: Simulation, options: AttachOptions = {}): HostMesh<"hosts"> {
  for (const name of ["gateway", "n0", "n1"]) simulation.startHost(name, { token });
  for (const name of ["n0", "n1"]) simulation.partition("driver", name, forever);
  return attachHosts(["tcp://n0", "tcp://n1"], { token, through: "tcp://gateway", ...options });
}

function counters(hosts: HostMesh<"hosts">): CounterMesh<"hosts" | "gpus"> {
  return hosts.spawnProcs({ gpus: 2 }).spawn("counters", Counter as never, ...([0] as never)) as never;
}

/** Collects the failures that reach the program. */
function failures(): string[] {
  const told: string[] = [];
  onUnhandledFault((failure) => void told.push(failure.summary));
  return told;
}

const named = (simulation: Simulation, name: string) =>
  simulation.processes.filter((process) => process.name.startsWith(name));

const living = (simulation: Simulation, name: string) => named(simulation, name).filter(({ ended }) => !ended).length;

function daemon(simulation: Simulation, host: string): ProcessView {
  return simulation.processes.find((process) => process.host === host && process.program === undefined)!;
}

/** Sends 100 numbered messages to each of the counters, and breaks something before one of them. */
async function count(simulation: Simulation, mesh: CounterMesh<"hosts" | "gpus">, breaks: (i: number) => void) {
  for (let i = 1; i <= 100; i++) {
    breaks(i);
    mesh.note.broadcast(`${i}`, 0);
    await simulation.sleep(10);
  }
  return [...(await mesh.log.call()).values()];
}

const counted = ["init", ...Array.from({ length: 100 }, (_, i) => [`+${i + 1}`, `-${i + 1}`]).flat()];
const all = [counted, counted, counted, counted];

test("a driver works with hosts that it does not reach, and leaves nothing on any of them", async () => {
  const { value } = await simulate(async (simulation) => {
    const hosts = behindGateway(simulation);
    const mesh = counters(hosts);
    mesh.increment.broadcast(3);
    const values = [...(await mesh.value.call()).values()];
    const on = simulation.processes.filter(({ name }) => name.startsWith("watches")).map(({ host }) => host);
    await hosts.stop();
    await simulation.sleep(3000);
    return { values, on: on.sort(), left: [living(simulation, "hosts="), living(simulation, "watches")] };
  });
  // One process watches the gateway, and another one, on the gateway, watches the hosts.
  expect(value).toEqual({ values: [3, 3, 3, 3], on: ["driver", "gateway"], left: [0, 0] });
});

describe("a fault that is shorter than the absence", () => {
  const breaks: Readonly<Record<string, (simulation: Simulation) => void>> = {
    "cut of the tunnel": (simulation) => simulation.cut(simulation.program, daemon(simulation, "gateway")),
    "silence of the tunnel": (simulation) => simulation.mute(simulation.program, daemon(simulation, "gateway")),
    "partition of 50 s": (simulation) => simulation.partition("driver", "gateway", 50_000),
    "one-way partition of 50 s": (simulation) => simulation.partition("gateway", "driver", 50_000, { oneWay: true }),
    "sleep of the laptop": (simulation) => simulation.pauseHost("driver", 50_000),
    "pause of the gateway's daemon": (simulation) => simulation.pause(daemon(simulation, "gateway"), 20_000),
    "cut between the gateway and a host": (simulation) =>
      simulation.cut(daemon(simulation, "gateway"), daemon(simulation, "n0")),
    "partition between the gateway and a host": (simulation) => simulation.partition("gateway", "n0", 1500),
    "end of the process that watches": (simulation) =>
      simulation.crash(named(simulation, "watches").find(({ host }) => host === "gateway")!),
  };

  test.each(Object.keys(breaks))("is not noticed: %s", async (name) => {
    const scenario = async (simulation: Simulation) => {
      const told = failures();
      const mesh = counters(behindGateway(simulation));
      await mesh.value.call();
      await simulation.sleep(1000);
      const logs = await count(simulation, mesh, (i) => {
        if (i === 50) breaks[name]!(simulation);
      });
      await simulation.sleep(30_000);
      return { told, logs, values: (await mesh.value.call()).size };
    };
    for (let seed = 1; seed <= 3; seed++) {
      expect((await simulate(scenario, { seed })).value).toEqual({ told: [], logs: all, values: 4 });
    }
  });
});

test("messages arrive once and in order while connections are cut, fall silent and are replaced at random", async () => {
  const scenario = async (simulation: Simulation) => {
    const told = failures();
    const mesh = counters(behindGateway(simulation, { silence: 30_000 }));
    await mesh.value.call();
    let random = simulation.seed * 7919;
    const next = (n: number) => {
      random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0;
      return (random >>> 8) % n;
    };
    const gateway = daemon(simulation, "gateway");
    const logs = await count(simulation, mesh, () => {
      const far = daemon(simulation, `n${next(2)}`);
      switch (next(12)) {
        case 0:
          simulation.cut(simulation.program, gateway);
          break;
        case 1:
          simulation.mute(simulation.program, gateway);
          break;
        case 2:
          simulation.cut(gateway, far);
          break;
        case 3:
          simulation.partition("driver", "gateway", next(4000));
          break;
        case 4:
          simulation.partition("gateway", far.host, next(2000));
          break;
        default:
      }
    });
    return { told, logs };
  };
  for (let seed = 1; seed <= cases(15, 1000); seed++) {
    const { value } = await simulate(scenario, { seed });
    expect(value, `seed ${seed}`).toEqual({ told: [], logs: all });
  }
});

test("a provider names the gateways that are ready at each attempt, and each may be another host than before", async () => {
  const { value } = await simulate(async (simulation) => {
    const told = failures();
    for (const name of ["g0", "g1", "g2", "n0", "n1"]) simulation.startHost(name, { token });
    for (const name of ["n0", "n1"]) simulation.partition("driver", name, forever);
    const { platform } = currentRuntime();
    const dial = (pod: () => string) => (signal: AbortSignal) =>
      platform.connectSocket({ kind: "tcp", host: pod(), port: 26_600 }, signal);
    let service = "g0";
    let ready = [{ address: "tcp://service", dial: dial(() => service) }];
    const places = ["tcp://n0", "tcp://n1"].map((address) => ({ address }));
    const gateway = { candidates: () => ready };
    const hosts = attachRoutedHosts(places, { token }, { hasOwnProof: true, isSameLog: false, gateway });
    const mesh = counters(hosts);
    await mesh.value.call();
    const logs = await count(simulation, mesh, (i) => {
      if (i === 30) {
        // Another host answers at the same address.
        service = "g1";
        simulation.crash(daemon(simulation, "g0"));
      } else if (i === 60) {
        ready = [];
        simulation.crash(daemon(simulation, "g1"));
      } else if (i === 90) ready = [{ address: "tcp://other", dial: dial(() => "g2") }];
    });
    await simulation.sleep(100_000);
    const watches = named(simulation, "watches").filter(({ host }) => host !== "driver");
    await mesh.value.call();
    return { told, logs, hosts: watches.map(({ host }) => host) };
  });
  expect(value).toEqual({ told: [], logs: all, hosts: ["g0", "g1", "g2"] });
});

test("after the absence, the driver has lost its hosts, and the hosts have ended its processes", async () => {
  const { value } = await simulate(async (simulation) => {
    const told = failures();
    const mesh = counters(behindGateway(simulation));
    await mesh.value.call();
    const { now } = simulation;
    simulation.partition("driver", "gateway", forever);
    const outcomes = [...(await mesh.value.callSettled()).values()].map(({ status }) => status);
    const took = simulation.now - now;
    await simulation.sleep(90_000);
    return { told: told.sort(), outcomes, took, left: living(simulation, "hosts=") };
  });
  expect(value.outcomes).toEqual(["rejected", "rejected", "rejected", "rejected"]);
  expect(value.took).toBeGreaterThan(59_000);
  expect(value.took).toBeLessThan(75_000);
  expect(value.told).toHaveLength(4);
  expect(value.told[0]).toContain("the driver gateway tcp://gateway:26600 is gone");
  expect(value.left).toBe(0);
});

test("a host behind the gateway that is lost is known after its silence, and the others stay", async () => {
  const { value } = await simulate(async (simulation) => {
    const told = failures();
    const mesh = counters(behindGateway(simulation));
    await mesh.value.call();
    const { now } = simulation;
    simulation.crashHost("n1");
    const outcomes = [...(await mesh.value.callSettled()).values()].map(({ status }) => status);
    const took = simulation.now - now;
    await simulation.sleep(1000);
    return { told: told.length, outcomes, took };
  });
  expect(value.outcomes).toEqual(["fulfilled", "fulfilled", "rejected", "rejected"]);
  expect(value.told).toBe(2);
  expect(value.took).toBeLessThan(5000);
});
