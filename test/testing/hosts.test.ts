/** Tests of simulated hosts: daemons, resumable links, the watch over hosts, and vanished drivers. */
import { describe, expect, test } from "vitest";
import { type AttachOptions, attachHosts, type HostMesh, onUnhandledFault } from "../../runtime/index.js";
import { type ProcessView, type Simulation, simulate } from "../../runtime/testing/index.js";
import { Counter, type CounterMesh } from "../actor/counter.js";

const token = "of the simulated cluster";

/** Starts daemons on the hosts `n0`, `n1`, …, and attaches them. */
function attached(simulation: Simulation, count: number, options: AttachOptions = {}): HostMesh<"hosts"> {
  const names = Array.from({ length: count }, (_, i) => `n${i}`);
  for (const name of names) simulation.startHost(name, { token });
  return attachHosts(
    names.map((name) => `tcp://${name}`),
    { token, ...options },
  );
}

function counters(hosts: HostMesh<"hosts">): CounterMesh<"hosts" | "gpus"> {
  const procs = hosts.spawnProcs({ gpus: 2 });
  return procs.spawn("counters", Counter as never, ...([0] as never)) as never;
}

/** Collects the failures that reach the program. */
function failures(): string[] {
  const told: string[] = [];
  onUnhandledFault((failure) => void told.push(failure.summary));
  return told;
}

function named(simulation: Simulation, name: string): ProcessView[] {
  return simulation.processes.filter((process) => process.name.startsWith(name));
}

function daemon(simulation: Simulation, host: string): ProcessView {
  return simulation.processes.find((process) => process.host === host && process.program === undefined)!;
}

const statuses = (settled: Iterable<readonly [unknown, { readonly status: string }]>): string[] =>
  [...settled].map(([, { status }]) => status);

test("hosts run the processes of a driver, and none is left after the driver has left", async () => {
  const { value } = await simulate(async (simulation) => {
    const hosts = attached(simulation, 2);
    const mesh = counters(hosts);
    mesh.increment.broadcast(3);
    const values = [...(await mesh.value.call()).values()];
    await hosts.stop();
    const made = named(simulation, "hosts=");
    return { values, on: made.map(({ host }) => host), left: made.filter(({ ended }) => !ended).length };
  });
  expect(value).toEqual({ values: [3, 3, 3, 3], on: ["n0", "n0", "n1", "n1"], left: 0 });
});

test("a host that starts after its driver is attached if it starts within the time limit", async () => {
  const { value } = await simulate(async (simulation) => {
    failures();
    const early = attachHosts(["tcp://n0"], { token, timeout: 30_000 });
    const outcome = attachHosts(["tcp://n1"], { token, timeout: 3000 }).ready.then(
      undefined,
      (error: Error) => error.message,
    );
    const { now } = simulation;
    const refused = await outcome;
    const took = simulation.now - now;
    await simulation.sleep(20_000 - took);
    simulation.startHost("n0", { token });
    const values = [...(await counters(early).value.call()).values()];
    return { refused, took, values, late: simulation.now - now - 20_000 };
  });
  expect(value.refused).toBe(
    "cannot attach host tcp://n1:26600: cannot connect to tcp://n1:26600: no process listens there; tried for 3000 ms",
  );
  expect(value.took).toBeCloseTo(3000, -2);
  expect(value.values).toEqual([0, 0]);
  // The longest pause between two attempts is 1 s.
  expect(value.late).toBeLessThan(2000);
});

test("a driver with another token or a wrong address is refused", async () => {
  await simulate(async (simulation) => {
    failures();
    simulation.startHost("n0", { token });
    const refused = (address: string, given: string) => attachHosts([address], { token: given }).ready;
    await expect(refused("tcp://n0", "another token than that")).rejects.toThrow(
      "the token is not that of this process",
    );
    await expect(refused("tcp://n0:7", token)).rejects.toThrow(
      "cannot connect to tcp://n0:7: no process listens there",
    );
    await expect(refused("unix:///n0", token)).rejects.toThrow(
      "in a simulation hosts have addresses like tcp://name:port",
    );
  });
});

describe("a fault that is shorter than the silence limit of a host", () => {
  const breaks: Readonly<Record<string, (simulation: Simulation) => void>> = {
    cut: (simulation) => simulation.cut(simulation.program, daemon(simulation, "n0")),
    mute: (simulation) => simulation.mute(simulation.program, daemon(simulation, "n0")),
    partition: (simulation) => simulation.partition("driver", "n0", 1000),
    "one-way partition": (simulation) => simulation.partition("n0", "driver", 1000, { oneWay: true }),
    "pause of the daemon": (simulation) => simulation.pause(daemon(simulation, "n0"), 1000),
    "pause of the host": (simulation) => simulation.pauseHost("n0", 1000),
  };

  test.each(Object.keys(breaks))("is not noticed: %s", async (name) => {
    const scenario = async (simulation: Simulation) => {
      const told = failures();
      const mesh = counters(attached(simulation, 2));
      await mesh.value.call();
      for (let i = 1; i <= 200; i++) {
        mesh.note.broadcast(`${i}`, 0);
        if (i === 50) breaks[name]!(simulation);
        await simulation.sleep(10);
      }
      const logs = [...(await mesh.log.call()).values()];
      return { told, logs };
    };
    const all = ["init", ...Array.from({ length: 200 }, (_, i) => [`+${i + 1}`, `-${i + 1}`]).flat()];
    for (let seed = 1; seed <= 5; seed++) {
      expect((await simulate(scenario, { seed })).value).toEqual({ told: [], logs: [all, all, all, all] });
    }
  });
});

test("a connection that fails while the host accepts the driver is opened again", async () => {
  const scenario = (after: number) => async (simulation: Simulation) => {
    const told = failures();
    const hosts = attached(simulation, 2);
    await simulation.sleep(after);
    simulation.mute(simulation.program, daemon(simulation, "n0"));
    const mesh = counters(hosts);
    const values = [...(await mesh.value.call()).values()];
    return { told, values };
  };
  for (let step = 0; step < 40; step++) {
    const { value } = await simulate(scenario(step / 10), { seed: step + 1 });
    expect(value, `${step / 10} ms`).toEqual({ told: [], values: [0, 0, 0, 0] });
  }
});

test("no host is lost when the network is down for 2 s", async () => {
  const scenario = async (simulation: Simulation) => {
    const told = failures();
    const mesh = counters(attached(simulation, 2));
    await mesh.value.call();
    for (let i = 0; i < 12; i++) {
      await simulation.sleep(1000 + 41 * i);
      const [from, to] = i % 2 === 0 ? ["driver", "n1"] : ["n1", "driver"];
      simulation.partition(from!, to!, 2000, { oneWay: i % 3 === 2 });
      await simulation.sleep(2000);
    }
    await simulation.sleep(3000);
    return { told, outcomes: statuses(await mesh.value.callSettled()) };
  };
  for (let seed = 1; seed <= 5; seed++) {
    const { value } = await simulate(scenario, { seed });
    expect(value).toEqual({ told: [], outcomes: Array(4).fill("fulfilled") });
  }
});

describe("a lost host", () => {
  const ends: Readonly<Record<string, (simulation: Simulation) => void>> = {
    crash: (simulation) => simulation.crashHost("n1"),
    partition: (simulation) => simulation.partition("driver", "n1", 60_000),
    "one-way partition": (simulation) => simulation.partition("driver", "n1", 60_000, { oneWay: true }),
    pause: (simulation) => simulation.pauseHost("n1", 60_000),
  };

  test.each(Object.keys(ends))("fails its ranks once, and their calls, after the silence limit: %s", async (name) => {
    const { value } = await simulate(async (simulation) => {
      const told = failures();
      const mesh = counters(attached(simulation, 2));
      await mesh.value.call();
      const { now } = simulation;
      ends[name]!(simulation);
      const outcomes = statuses(await mesh.value.callSettled());
      const took = simulation.now - now;
      await simulation.sleep(70_000);
      return { outcomes, took, told: told.sort(), left: named(simulation, "hosts=1").filter(({ ended }) => !ended) };
    });
    expect(value.outcomes).toEqual(["fulfilled", "fulfilled", "rejected", "rejected"]);
    expect(value.took).toBeGreaterThan(2000);
    expect(value.took).toBeLessThan(3000);
    expect(value.told).toHaveLength(2);
    expect(value.told[0]).toMatch(/^mesh "procs" failed at rank 2: host tcp:\/\/n1:26600 is gone: it has not answered/);
    // The host ends its processes when it learns that it was given up, or hears nothing from the driver.
    expect(value.left).toEqual([]);
  });
});

test("a link that is not restored in time ends with its calls", async () => {
  const { value } = await simulate(async (simulation) => {
    failures();
    const mesh = counters(attached(simulation, 1, { silence: 200_000, keepAlive: 60_000 }));
    await mesh.value.call();
    const { now } = simulation;
    simulation.partition("driver", "n0", 100_000);
    simulation.mute(simulation.program, daemon(simulation, "n0"));
    const error = await mesh.value.call().then(undefined, (reason: Error) => reason);
    return { error: String(error), took: simulation.now - now };
  });
  // The kernel detects the fault after 15 s.
  expect(value.error).toContain("was lost and not restored within 30000 ms");
  expect(value.took).toBeGreaterThan(44_000);
  expect(value.took).toBeLessThan(47_000);
});

describe("another program", () => {
  /** Starts a driver with processes on `n0`, beside the program. */
  function driver(simulation: Simulation): ProcessView {
    simulation.startHost("n0", { token });
    return simulation.startProgram("driver2", "desk", async () => {
      onUnhandledFault(() => {});
      const mesh = counters(attachHosts(["tcp://n0"], { token }));
      await mesh.value.call();
      await simulation.sleep(1000);
      await mesh.sleep.callSettled(70_000);
    });
  }
  const living = (simulation: Simulation, program: ProcessView) =>
    simulation.processes.filter((process) => process.program === program && !process.ended).length;

  test("that crashes leaves no process on any host", async () => {
    const { value } = await simulate(async (simulation) => {
      const program = driver(simulation);
      await simulation.sleep(500);
      const before = living(simulation, program);
      simulation.crash(program);
      await simulation.sleep(3000);
      return [before, living(simulation, program)];
    });
    // There are two processes on the host, one that watches the host, and the program itself.
    expect(value).toEqual([4, 0]);
  });

  test("whose host crashes leaves no process after the time limit", async () => {
    const { value } = await simulate(async (simulation) => {
      const program = driver(simulation);
      await simulation.sleep(500);
      simulation.crashHost("desk");
      const counts: number[] = [];
      for (const ms of [5000, 8000]) {
        await simulation.sleep(ms);
        counts.push(living(simulation, program));
      }
      return counts;
    });
    expect(value).toEqual([2, 0]);
  });

  test("that is stopped for long loses no host, because a separate process sends its beats", async () => {
    const { value } = await simulate(async (simulation) => {
      const program = driver(simulation);
      await simulation.sleep(500);
      simulation.pause(program, 60_000);
      await simulation.sleep(59_000);
      return living(simulation, program);
    });
    expect(value).toBe(4);
  });

  test("ends in order after its work, and with code 1 if it rejects", async () => {
    const { value } = await simulate(async (simulation) => {
      const good = simulation.startProgram("good", "desk", () => simulation.sleep(5));
      const bad = simulation.startProgram("bad", "desk", () => Promise.reject(new Error("it was told to")));
      await simulation.sleep(100);
      return [good.end, bad.end];
    });
    expect(value).toEqual(["process 2 exited with code 0", "process 3 exited with code 1"]);
  });
});

test("a daemon that is terminated ends its processes, and a host that has crashed can be started again", async () => {
  const { value } = await simulate(async (simulation) => {
    const told = failures();
    const mesh = counters(attached(simulation, 1));
    await mesh.value.call();
    simulation.terminate(daemon(simulation, "n0"));
    await simulation.sleep(3000);
    const left = named(simulation, "hosts=").filter(({ ended }) => !ended).length;
    simulation.crashHost("n0");
    const again = counters(attached(simulation, 1));
    return { told: told.length, left, values: [...(await again.value.call()).values()] };
  });
  expect(value).toEqual({ told: 2, left: 0, values: [0, 0] });
});

test("a simulation can change the limits of links between hosts", async () => {
  const scenario = async (simulation: Simulation) => {
    failures();
    const hosts = attached(simulation, 1, { silence: 60_000, keepAlive: 60_000 });
    const mesh = counters(hosts);
    await mesh.value.call();
    simulation.partition("driver", "n0", 40_000);
    for (const { name } of named(simulation, "hosts=")) {
      simulation.cut(simulation.program, named(simulation, name)[0]!);
    }
    const { now } = simulation;
    const told = statuses(await mesh.value.callSettled());
    return { told, took: simulation.now - now };
  };
  const short = await simulate(scenario, { resumable: { giveUpMs: 2000 } });
  expect(short.value.told).toEqual(["rejected", "rejected"]);
  expect(short.value.took).toBeLessThan(20_000);
  const { value } = await simulate(scenario);
  expect(value.took).toBeGreaterThan(30_000);
});
