/** What holds the hosts of a simulated job: it starts a lost host again, as a keeper does, late, or never. */
import type { HostFinder } from "../../../runtime/host/attached/host-returns.js";
import type { RoutedHost } from "../../../runtime/host/attached/host-targets.js";
import type { Simulation } from "../../../runtime/testing/index.js";

/** What becomes of a host that was lost. */
export type Fate = "returns" | "never returns" | "is refused";

/** The secret that drivers and hosts share. */
export const token = "what drivers and hosts of a job share";

const firstPort = 26_600;

export class HostHolder {
  readonly names: readonly string[];
  /** What becomes of hosts that do not come back when they are lost, by their numbers. */
  readonly fates = new Map<number, Fate>();
  /** The times in ms since which lost hosts that are not back are waited for, by their numbers. */
  readonly missedSince = new Map<number, number>();
  /** The hosts of which the program was told that they will not come back. */
  readonly refused = new Set<number>();
  readonly #simulation: Simulation;
  readonly #limit: number;
  readonly #ports: number[];

  /** @param limit the time in ms for which a lost host is waited for */
  constructor(simulation: Simulation, count: number, limit: number) {
    this.#simulation = simulation;
    this.#limit = limit;
    this.names = Array.from({ length: count }, (_, i) => `n${i}`);
    this.#ports = this.names.map(() => firstPort);
    for (const number of this.names.keys()) this.#start(number);
  }

  /** The addresses at which the hosts listen. */
  get places(): RoutedHost[] {
    return this.names.map((_, number) => this.#placeOf(number));
  }

  get finder(): HostFinder<RoutedHost> {
    return {
      limit: this.#limit,
      find: (number, signal) => this.#find(number, signal),
      why: () => undefined,
      returned: (number) => {
        this.#simulation.note(`host ${number} is back`);
        this.missedSince.delete(number);
      },
    };
  }

  async #find(number: number, signal: AbortSignal): Promise<RoutedHost> {
    const { random } = this.#simulation;
    this.#simulation.note(`host ${number} is looked for`);
    if (!this.missedSince.has(number)) this.missedSince.set(number, this.#simulation.now);
    const [fence, start, moves] = [random.int(3000), random.int(4000), random.chance(0.5)];
    await this.#simulation.sleep(fence);
    // What the host still runs belongs to nobody.
    this.#simulation.crashHost(this.names[number]!);
    const fate = this.fates.get(number) ?? "returns";
    if (fate === "is refused") {
      this.refused.add(number);
      throw new Error(`host ${number} was ended by somebody`);
    }
    if (fate === "never returns") {
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      throw signal.reason;
    }
    await this.#simulation.sleep(start);
    if (moves) this.#ports[number]!++;
    this.#start(number);
    return this.#placeOf(number);
  }

  #start(number: number): void {
    this.#simulation.startHost(this.names[number]!, { token, port: this.#ports[number]! });
  }

  #placeOf(number: number): RoutedHost {
    return { address: `tcp://${this.names[number]}:${this.#ports[number]}` };
  }
}
