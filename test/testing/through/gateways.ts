/** The gateways of a simulated driver: they are killed, upgraded, stopped and cut off, and come back. */
import type { ProcessView, Simulation } from "../../../runtime/testing/index.js";

export const token = "of the simulated cluster";

/** The ways in which a gateway is lost for a while. */
const losses = ["kill", "upgrade", "crash-host", "pause", "pause-host", "partition", "one-way"] as const;

/** The longest time in ms for which no gateway is there. A driver may need 30 s more to notice it and to attach another one. */
const longestLoss = 25_000;
/** The longest time in ms for which one of two gateways is lost. What it still does for the driver ends meanwhile. */
export const longestLossOfOne = 120_000;

export class Gateways {
  readonly names: readonly string[];
  readonly #simulation: Simulation;
  /** The time before which no further gateway is lost: one after another, so that a gateway is always back in time. */
  #calmUntil = 0;

  constructor(simulation: Simulation, count: number) {
    this.#simulation = simulation;
    this.names = Array.from({ length: count }, (_, i) => `g${i}`);
    for (const name of this.names) simulation.startHost(name, { token });
  }

  get addresses(): string[] {
    return this.names.map((name) => `tcp://${name}`);
  }

  /** The daemon of a host that was started last. */
  daemon(host: string): ProcessView {
    return this.#simulation.processes.findLast((process) => process.host === host && process.program === undefined)!;
  }

  /**
   * Loses gateways for a while, unless others have just been lost: one of several for a long time, or all for a short one.
   * @param all whether none is left meanwhile
   */
  lose(all: boolean): void {
    const { random, now } = this.#simulation;
    const longest = all || this.names.length === 1 ? longestLoss : longestLossOfOne;
    const plans = this.names.map(() => ({ how: random.pick(losses), ms: 500 + random.int(longest - 500) }));
    const which = random.int(this.names.length);
    if (now < this.#calmUntil) return;
    const lost = [...plans.entries()].filter(([i]) => all || i === which);
    this.#calmUntil = now + longestLoss + Math.max(...lost.map(([, { ms }]) => ms));
    for (const [i, { how, ms }] of lost) this.#lose(this.names[i]!, how, ms);
  }

  /** Loses all gateways for good. */
  loseAll(): void {
    const cut = this.#simulation.random.chance(0.5);
    this.#simulation.note(`all gateways are ${cut ? "cut off" : "killed"} for good`);
    for (const name of this.names) {
      if (cut) this.#simulation.partition("driver", name, 1_000_000_000);
      else this.#simulation.crash(this.daemon(name));
    }
  }

  #lose(name: string, how: (typeof losses)[number], ms: number): void {
    const simulation = this.#simulation;
    simulation.note(`gateway ${name}: ${how} for ${ms} ms`);
    const daemon = this.daemon(name);
    if (how === "pause") simulation.pause(daemon, ms);
    else if (how === "pause-host") simulation.pauseHost(name, ms);
    else if (how === "partition" || how === "one-way") {
      simulation.partition("driver", name, ms, { oneWay: how === "one-way" });
    } else {
      if (how === "kill") simulation.crash(daemon);
      else if (how === "upgrade") simulation.terminate(daemon);
      else simulation.crashHost(name);
      void simulation.sleep(ms).then(() => {
        // One that ends in order may still be ending its processes.
        if (!daemon.ended) simulation.crash(daemon);
        simulation.startHost(name, { token });
      });
    }
  }
}
