/**
 * Finds hosts of one job of Slurm again that a driver has lost: those whose daemon was started again on its node
 * (host-loop.ts), and those of a job that Slurm has started again, on whichever nodes. All hosts that are waited for share one
 * question to Slurm.
 */
import { setTimeout as pause } from "node:timers/promises";
import { formatPlace, type HostPlace } from "../mesh-spec.js";
import type { LoginCommands } from "../reach/login-commands.js";
import type { NodeReach } from "../reach/node-reach.js";
import type { BatchIdentity, BatchInQueue, StartedHost } from "./batch-in-queue.js";
import { endIncarnation, incarnationsName } from "./host-loop.js";

/** Time in ms between two questions, and for one attempt to reach a host. */
const lookMs = 1000;

/** Time in ms for a host to end by itself that the driver has lost, and between two attempts to end it. */
const fenceMs = 3000;
const nextFenceMs = 30_000;

/** A host that runs, and which incarnation of it. */
export interface Incarnation extends StartedHost {
  readonly incarnation: number;
}

export class LostHosts {
  readonly #commands: LoginCommands;
  readonly #job: BatchIdentity;
  readonly #batch: BatchInQueue;
  readonly #reach: NodeReach;
  #look: Promise<ReadonlyMap<string, Incarnation>> | undefined;

  constructor(commands: LoginCommands, job: BatchIdentity, batch: BatchInQueue, reach: NodeReach) {
    this.#commands = commands;
    this.#job = job;
    this.#batch = batch;
    this.#reach = reach;
  }

  /** Returns which incarnation of each host has been started last, by the places; 0 for a host of which nothing is known. */
  async incarnations(): Promise<(place: HostPlace) => number> {
    const read = 'cd "$1" && grep . /dev/null *';
    const said = await this.#commands
      .run(["sh", "-c", read, "sh", `${this.#job.folder}/${incarnationsName}`])
      .catch(() => "");
    const found = new Map([...said.matchAll(/^(\w+-\d+):(\d+)$/gm)].map(([, name, value]) => [name, Number(value)]));
    return ({ mesh, rank }) => found.get(`${mesh}-${rank}`) ?? 0;
  }

  /**
   * Resolves with a host that was lost when another incarnation of it answers. An incarnation that does not end by itself is
   * ended, because what it still runs belongs to nobody.
   * @param incarnation the one that was lost
   * @throws Error with the reason if the job has ended
   */
  async returned(lost: HostPlace, incarnation: number, signal: AbortSignal): Promise<Incarnation> {
    let fenceAt = Date.now() + fenceMs;
    for (;;) {
      const found = (await this.#looked()).get(formatPlace(lost));
      if (found !== undefined && found.incarnation > incarnation) {
        const limit = AbortSignal.any([signal, AbortSignal.timeout(lookMs)]);
        const answer = this.#reach.waitForAnswer({ node: found.node, port: this.#job.port }, limit);
        const isUp = await answer.then(
          () => true,
          () => false,
        );
        if (isUp) return found;
      } else if (found !== undefined && Date.now() > fenceAt) {
        fenceAt = Date.now() + nextFenceMs;
        void this.#end(found);
      }
      await pause(lookMs, undefined, { signal });
    }
  }

  #looked(): Promise<ReadonlyMap<string, Incarnation>> {
    this.#look ??= this.#lookNow().finally(() => {
      setTimeout(() => {
        this.#look = undefined;
      }, lookMs / 2).unref();
    });
    return this.#look;
  }

  async #lookNow(): Promise<ReadonlyMap<string, Incarnation>> {
    // A wait that ends does not end those of other hosts. What the job waits for is told by `watch`.
    const started = await this.#batch.startedNow(() => {}, new AbortController().signal);
    const incarnationOf = await this.incarnations();
    const hosts = started?.hosts ?? [];
    return new Map(hosts.map((host) => [formatPlace(host.place), { ...host, incarnation: incarnationOf(host.place) }]));
  }

  /** Ends an incarnation by a step beside that of its host. A node that cannot be reached is left to Slurm. */
  async #end({ place, node, component, incarnation }: Incarnation): Promise<void> {
    const { id, applyId } = this.#job;
    const step = ["srun", `--jobid=${id}`, ...(component === undefined ? [] : [`--het-group=${component}`])];
    const where = [`--nodelist=${node}`, "--nodes=1", "--ntasks=1", "--overlap", "--gres=none", "--mem=0"];
    const script = endIncarnation(applyId, place.mesh, place.rank, incarnation);
    const limit = ["timeout", String(nextFenceMs / 1000)];
    await this.#commands.run([...limit, ...step, ...where, "sh", "-c", script]).catch(() => {});
  }
}
