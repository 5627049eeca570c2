/**
 * A keeper: the process that holds the hosts of one run of a job, so that they can outlive the driver. It starts the
 * hosts, knows their states, and ends everything when it is told to, when no driver has been there for the idle time,
 * or when all hosts have ended. The keeper of a batch job also runs its command, and ends everything when that has ended.
 */
import type { ChildProcess } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { writeOutcome, writeStart } from "../batch/client.js";
import type { HostCertifier } from "../credentials/certify-host.js";
import { hostUri } from "../credentials/credentials-folder.js";
import { formatPlace, type HostPlace } from "../mesh-spec.js";
import {
  allHostsEnded,
  type HostOrder,
  type KeeperEvent,
  type KeeperOrder,
  type KeeperState,
  type KeptHostInfo,
  type LostHost,
} from "./keeper-order.js";
import { KeptClient } from "./kept-client.js";
import { KeptHost, type KeptHostCalls } from "./kept-host.js";
import { endMarkedProcesses } from "./marked-processes.js";
import { guardMarked } from "./shell-ends.js";

/** The longest delay of a timer, in ms: 24 days. */
const longestTimer = 0x7fff_ffff;

/** Time in ms in which the first driver must connect. */
const firstDriverMs = 30_000;

/** Time in ms after which a driver without connections counts as ended. A driver opens a second one before it closes the first. */
const driverEndMs = 300;

export class Keeper {
  readonly order: KeeperOrder;
  #hosts: readonly KeptHost[];
  /** Hosts that were not asked for at first, and have not been up yet. */
  readonly #joining = new Set<KeptHost>();
  /** The ends of hosts that the job gives back, by their places in text. */
  readonly #leaving = new Map<string, Promise<void>>();
  readonly #calls: KeptHostCalls;
  readonly #drivers = new Set<(event: KeeperEvent) => void>();
  #idleTimer: NodeJS.Timeout | undefined;
  #client: KeptClient | undefined;
  /** Ends the command if this keeper is killed. */
  #guard: ChildProcess | undefined;
  #ending: Promise<void> | undefined;
  #resolveEnded: () => void = () => {};
  /** Resolves when nothing of the job is left. */
  readonly ended = new Promise<void>((resolve) => {
    this.#resolveEnded = resolve;
  });

  /** @param certifier signs the certificates of hosts; absent if they need none */
  constructor(order: KeeperOrder, certifier: HostCertifier | undefined) {
    this.order = order;
    mkdirSync(order.logs, { recursive: true, mode: 0o700 });
    this.#calls = {
      changed: (host: KeptHost) => this.#hostChanged(host),
      ownersChanged: () => this.#awaitDriver(),
      heard: () => this.#startHosts(),
      certify: (socket: string) => certifier?.certify(socket),
      replaced: (host: KeptHost) => certifier?.replaced(hostUri(order.applyId, host.order)),
    };
    this.#hosts = order.hosts.map((host) => new KeptHost(host, order.logs, this.#calls));
    this.#endAfter(firstDriverMs, `its driver did not connect within ${firstDriverMs} ms`);
    this.#startHosts();
    if (order.client !== undefined) {
      writeStart(dirname(order.logs));
      // Hosts end with the end of their standard input. A command knows nothing of its keeper.
      this.#guard = guardMarked(order.applyId);
      this.#client = new KeptClient(order.client, order.logs);
      void this.#client.ended.then((outcome) => {
        writeOutcome(dirname(order.logs), outcome);
        void this.end(outcome.error ?? `its command has ended with exit code ${outcome.exitCode}`);
      });
    }
  }

  get state(): KeeperState {
    return { hosts: this.hosts, isBatch: this.#client !== undefined };
  }

  get hosts(): readonly KeptHostInfo[] {
    return this.#hosts.map(({ info }) => info);
  }

  /**
   * Adds a driver, which gets all events until it is removed.
   * @returns a function that removes it
   */
  addDriver(tell: (event: KeeperEvent) => void): () => void {
    clearTimeout(this.#idleTimer);
    this.#drivers.add(tell);
    for (const host of this.hosts) tell({ host });
    this.#endWithHosts();
    return () => {
      if (this.#drivers.delete(tell)) this.#awaitDriver();
    };
  }

  /** Starts further hosts. A place that has a host keeps it, unless the job gives that host back. */
  async addHosts(orders: readonly HostOrder[]): Promise<void> {
    await Promise.all(orders.map((order) => this.#leaving.get(formatPlace(order))));
    if (this.#ending !== undefined) return;
    const isFree = ({ mesh, rank }: HostOrder) =>
      !this.#hosts.some(({ order }) => order.mesh === mesh && order.rank === rank);
    const added = orders.filter(isFree).map((order) => new KeptHost(order, this.order.logs, this.#calls));
    for (const host of added) this.#joining.add(host);
    this.#hosts = [...this.#hosts, ...added];
    this.#startHosts();
  }

  /** Ends the hosts of a mesh from a rank on. Resolves when nothing of them is left. */
  async giveBack({ mesh, rank }: HostPlace): Promise<void> {
    const isGiven = ({ order }: KeptHost) => order.mesh === mesh && order.rank >= rank;
    const given = this.#hosts.filter(isGiven);
    this.#hosts = this.#hosts.filter((host) => !isGiven(host));
    for (const host of given) {
      const place = formatPlace(host.order);
      this.#leaving.set(
        place,
        host.giveBack().then(() => void this.#leaving.delete(place)),
      );
    }
    await Promise.all(this.#leaving.values());
  }

  /** Handles what a driver says: it has lost a host. Returns whether the job has a host at that place. */
  hostLost({ mesh, rank, incarnation }: LostHost): boolean {
    const host = this.#hosts.find(({ order }) => order.mesh === mesh && order.rank === rank);
    host?.lostBy(incarnation);
    return host !== undefined;
  }

  /** Ends everything if no driver comes in time, unless a controller owns meshes on the hosts. */
  #awaitDriver(): void {
    if (this.#drivers.size > 0 || this.#ending !== undefined) return;
    clearTimeout(this.#idleTimer);
    if (this.#hosts.some(({ owners }) => owners > 0)) return;
    const { idle } = this.order;
    if (idle === null) this.#endAfter(driverEndMs, "its driver has ended");
    else this.#endAfter(idle, `it had no driver for ${idle} ms (idle)`);
  }

  /** Ends all hosts and everything that they have started. Resolves when nothing is left. Idempotent. */
  end(reason: string): Promise<void> {
    this.#ending ??= this.#end(reason);
    return this.#ending;
  }

  async #end(reason: string): Promise<void> {
    clearTimeout(this.#idleTimer);
    // The command may want to store its state, for which it needs its hosts.
    await this.#client?.stop();
    await Promise.all([...this.#leaving.values(), ...this.#hosts.map((host) => host.stop())]);
    await endMarkedProcesses(this.order.applyId);
    // The outcome of a command that was killed now is written before the last answer.
    await this.#client?.ended;
    this.#guard?.kill("SIGKILL");
    for (const tell of this.#drivers) tell({ ended: reason });
    const { directory, certificates } = this.order;
    for (const folder of [directory, ...(certificates === undefined ? [] : [certificates.credentials])]) {
      rmSync(folder, { recursive: true, force: true });
    }
    // Nobody could find the files of a job without a cache again.
    if (this.order.idle === null) rmSync(dirname(this.order.logs), { recursive: true, force: true });
    this.#resolveEnded();
  }

  #endAfter(limit: number, reason: string): void {
    clearTimeout(this.#idleTimer);
    if (this.order.client !== undefined) return;
    this.#idleTimer = setTimeout(() => void this.end(reason), Math.min(limit, longestTimer));
  }

  /** Starts hosts until `parallel` of them are silent. */
  #startHosts(): void {
    let silent = this.#hosts.filter(({ isSilent }) => isSilent).length;
    for (const host of this.#hosts) {
      if (silent >= this.order.parallel || this.#ending !== undefined) return;
      if (host.state !== "waiting") continue;
      silent++;
      host.start();
    }
  }

  #hostChanged(changed: KeptHost): void {
    if (this.#ending !== undefined) return;
    for (const tell of this.#drivers) tell({ host: changed.info });
    if (changed.state === "starting") return;
    // The job does not miss a host that could not join it.
    if (this.#joining.delete(changed) && changed.state === "ended") {
      this.#hosts = this.#hosts.filter((host) => host !== changed);
    }
    this.#endWithHosts();
    this.#startHosts();
  }

  /** Ends when all hosts have ended, and a driver is there that can be told. A batch job ends with its command. */
  #endWithHosts(): void {
    if (this.order.client !== undefined) return;
    if (this.#drivers.size === 0 || this.#hosts.some(({ state }) => state !== "ended")) return;
    void this.end(allHostsEnded);
  }
}
