/**
 * A host as the program of a soak uses it: attached, with load on processes and actors that are restarted when they
 * end. When the host is lost, it is attached again.
 */
import { attachHosts, type HostMesh, type MeshFailure, type ProcMesh, type Settled, type ValueMesh } from "viceroy";
import { Load } from "../faults/load.js";
import type { TallyMesh, TallyReport } from "../fixtures/crew/generated/tally.js";
import { HonestTally } from "../fixtures/crew/src/honest-tally.js";

export interface SiteOptions {
  readonly name: string;
  readonly address: string;
  readonly seed: number;
  /** Number of processes on the host. */
  readonly gpus: number;
  readonly print: (line: string) => void;
}

/** One attachment of the host. */
class SiteSession {
  readonly hosts: HostMesh<"hosts">;
  readonly procs: ProcMesh<"hosts" | "gpus">;
  readonly tallies: TallyMesh<"hosts" | "gpus">;
  readonly load: Load;
  /** Whether the actors exist and the load runs. */
  started = false;
  lost = false;

  constructor({ name, address, seed, gpus, print }: SiteOptions, number: number) {
    const id = `${name}${number}`;
    this.hosts = attachHosts([address], { name: id, silence: 4000, keepAlive: 4000, timeout: 5000 });
    const restart = { policy: "on-failure", maxRestarts: 6, within: 10_000, backoff: 50 } as const;
    this.procs = this.hosts.spawnProcs({ gpus }, { name: `${id} procs`, restart, stdio: print });
    this.tallies = this.procs.with({ watchdog: { warn: 10_000 } }).spawn(`${id} tallies`, HonestTally);
    const pace = { workers: 6, pause: 5, large: 1 << 20, cells: 70 };
    this.load = new Load(this.tallies, { name: id, seed: seed + number, peers: gpus, ...pace });
  }
}

export class SoakSite {
  readonly name: string;
  /** The sum over all attachments. */
  readonly violations: string[] = [];
  reports: TallyReport[] = [];
  /** Number of times that the host was attached again. */
  stays = 0;
  readonly #options: SiteOptions;
  #stay: SiteSession | undefined;
  #before = { done: 0, refused: 0 };
  /** Resolves when the host is attached, or the site has ended. */
  #attached: Promise<void> = Promise.resolve();
  #ended = false;

  constructor(options: SiteOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** Resolves when actors exist, however long the host is lost. */
  begin(): Promise<void> {
    this.#attached = this.#attach();
    return this.#attached;
  }

  async #attach(): Promise<void> {
    while (!this.#ended) {
      const stay = new SiteSession(this.#options, ++this.stays);
      this.#stay = stay;
      const met = await stay.tallies.meet.call(stay.tallies).then(
        () => true,
        () => false,
      );
      if (met && !stay.lost) {
        stay.started = true;
        stay.load.start();
        return;
      }
      this.#stay = undefined;
      await stay.hosts.stop({ drain: 0 });
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  get tallies(): TallyMesh | undefined {
    return this.#stay?.tallies as TallyMesh | undefined;
  }

  get hosts(): HostMesh<"hosts"> | undefined {
    return this.#stay?.hosts;
  }

  get done(): number {
    return this.#before.done + (this.#stay?.load.done ?? 0);
  }

  get refused(): number {
    return this.#before.refused + refusals(this.#stay?.load);
  }

  get pending(): string[] {
    return this.#stay?.load.pending ?? [];
  }

  /** Handles a failure. If the failure is of this host, the host is lost. */
  failed({ mesh, cause }: MeshFailure): void {
    const stay = this.#stay;
    if (stay === undefined || stay.lost || !mesh.startsWith(`${this.#options.name}${this.stays} `)) return;
    if (!/ is gone: /.test(cause.message)) {
      this.violations.push(`${mesh} failed of something else than the end of its host: ${cause.message}`);
    }
    stay.lost = true;
    // A host that is lost before its load has started is attached again by the call that is waiting for it.
    if (stay.started) this.#attached = this.#again(stay);
  }

  async #again(stay: SiteSession): Promise<void> {
    await this.#close(stay);
    this.#before = { done: this.done, refused: this.refused };
    this.#stay = undefined;
    await stay.hosts.stop({ drain: 0 });
    await this.#attach();
  }

  async #close({ load }: SiteSession): Promise<void> {
    await load.stop();
    this.violations.push(...load.violations.splice(0));
  }

  /** Asks all actors for their state. Actors that do not exist now are omitted. */
  async look(): Promise<void> {
    const stay = this.#stay;
    if (stay === undefined) return;
    this.violations.push(...stay.load.violations.splice(0));
    let answers: ValueMesh<Settled<TallyReport>, "hosts" | "gpus"> | undefined;
    try {
      answers = await stay.tallies.report.with({ timeout: 20_000 }).callSettled();
    } catch {
      // The mesh is being stopped, or does not answer in time, which another check detects.
    }
    this.reports = [...(answers?.values() ?? [])].flatMap((answer) =>
      answer.status === "fulfilled" ? [answer.value] : [],
    );
  }

  /** Checks that all operations end, all messages have arrived, and no process is left. */
  async end(): Promise<void> {
    this.#ended = true;
    await this.#attached;
    const stay = this.#stay;
    if (stay === undefined) return;
    await this.#close(stay);
    await stay.load.confirm();
    this.violations.push(...stay.load.violations.splice(0));
    await this.look();
    await stay.hosts.stop();
  }
}

function refusals(load: Load | undefined): number {
  return [...(load?.refused.values() ?? [])].reduce((sum, n) => sum + n, 0);
}
