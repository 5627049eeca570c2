/**
 * Simulated drivers that resize one job at the same time. A seed decides who goes on, which answers of the API server are lost, and who is killed, so
 * that each run can be repeated.
 */
import { expect, test } from "vitest";
import type { ApiObject } from "../../../runtime/job/kubernetes/api/kubernetes-api.js";
import { KubernetesError } from "../../../runtime/job/kubernetes/api/kubernetes-error.js";
import { JobScaler } from "../../../runtime/job/kubernetes/size/job-scaler.js";
import { sizeOf } from "../../../runtime/job/kubernetes/size/mesh-size.js";
import { mergePatch } from "../api-server/patch.js";

const asked = 2;
const killed = new Error("killed");

/** Returns numbers that are uniform in [0, 1), from a seed. */
function randomOf(seed: number): () => number {
  let state = Math.imul(seed + 1, 0x9e37_79b1) >>> 0;
  return () => {
    // The generator xorshift32, whose state is never 0.
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** One Job of an API server, and the requests that wait for their turn. */
class SimulatedCluster {
  readonly random: () => number;
  readonly #waiting: (() => void)[] = [];
  job: ApiObject = {
    metadata: { name: "viceroy-workers", resourceVersion: "1", generation: 1, labels: { "viceroy/run": "run" } },
    spec: { completions: asked, parallelism: asked },
    status: {},
  };
  /** The ranks whose secrets are written. */
  readonly secrets = new Set([0, 1]);

  constructor(seed: number) {
    this.random = randomOf(seed);
  }

  get size() {
    return sizeOf(this.job, asked);
  }

  turn(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Lets one after the other go on, until nobody waits. */
  async run(done: Promise<unknown>): Promise<void> {
    let isDone = false;
    void done.finally(() => {
      isDone = true;
    });
    for (let turns = 0; ; turns++) {
      await new Promise((resolve) => setImmediate(resolve));
      if (isDone) return;
      if (turns > 10_000) throw new Error(`the drivers do not end: ${JSON.stringify(this.job)}`);
      const next = this.#waiting.splice(Math.floor(this.random() * this.#waiting.length), 1)[0];
      next?.();
      if (this.random() < 0.3) this.#runController();
    }
  }

  /** The controller forgets the hosts beyond the size. */
  #runController(): void {
    const { resourceVersion } = this.job.metadata;
    const { completedIndexes = "" } = this.job["status"] as { completedIndexes?: string };
    const ranks = completedIndexes.split(",").filter((rank) => rank !== "" && Number(rank) < this.size.hosts);
    const metadata = { ...this.job.metadata, resourceVersion: `${Number(resourceVersion) + 1}` };
    this.job = { ...this.job, metadata, status: { completedIndexes: ranks.join(",") } };
  }

  /** Returns the API for one driver. @param life the number of requests after which the driver is killed */
  apiFor(life = Number.POSITIVE_INFINITY) {
    let left = life;
    const ask = async <T>(act: () => T): Promise<T> => {
      if (left-- <= 0) throw killed;
      await this.turn();
      if (this.random() < 0.05) throw new KubernetesError("the API server is away", { status: 503 });
      const answer = act();
      if (this.random() < 0.05) throw new KubernetesError("the answer is lost", { status: 0 });
      return answer;
    };
    return {
      get: () => ask(() => this.job),
      patch: (_kind: string, _name: string, change: object) =>
        ask(() => {
          const { resourceVersion } = this.job.metadata;
          if ((change as ApiObject).metadata.resourceVersion !== resourceVersion) {
            throw new KubernetesError("the object has been modified", { status: 409 });
          }
          this.job = mergePatch(this.job as never, change as never) as unknown as ApiObject;
          const metadata = { ...this.job.metadata, resourceVersion: `${Number(resourceVersion) + 1}` };
          this.job = { ...this.job, metadata };
          const { completions, parallelism } = this.job["spec"] as Record<string, number>;
          expect(completions).toBe(parallelism);
          for (let rank = 0; rank < completions!; rank++) expect(this.secrets.has(rank), `secret ${rank}`).toBe(true);
          return this.job;
        }),
    };
  }

  scaler(life?: number): JobScaler {
    let now = 0;
    const world = { now: () => now++, random: this.random, pause: () => this.turn() };
    const api = this.apiFor(life) as never;
    return new JobScaler({ api, name: "viceroy-workers", applyId: "run", mesh: "workers", asked, world });
  }

  /** Grows the mesh as a driver does. @returns whether the hosts came up */
  async grow(scaler: JobScaler, id: string, hosts: number, comesUp: boolean): Promise<boolean> {
    const prepare = async (ranks: readonly number[]) => {
      await this.turn();
      for (const rank of ranks) this.secrets.add(rank);
    };
    try {
      await scaler.grow(id, asked, hosts, prepare);
      for (let look = 0; look < 3; look++) await this.turn();
      if (!comesUp) throw new Error("a host does not come up");
      await scaler.finish(id, hosts);
      return true;
    } catch (error) {
      if (error !== killed) await scaler.giveBack(id);
      return false;
    }
  }
}

const seeds = Array.from({ length: 100 }, (_, seed) => seed);

test("drivers that grow a mesh at the same time get what they wait for, and leave what a failed one does not need", async () => {
  for (const seed of seeds) {
    const cluster = new SimulatedCluster(seed);
    const wanted = Array.from({ length: 4 }, () => 3 + Math.floor(cluster.random() * 4));
    const comesUp = wanted.map(() => cluster.random() < 0.5);
    const growths = wanted.map((hosts, i) => cluster.grow(cluster.scaler(), `${i}`, hosts, comesUp[i]!));
    const all = Promise.all(growths);
    await cluster.run(all);
    expect(await all, `seed ${seed}`).toEqual(comesUp);
    const hosts = Math.max(asked, ...wanted.filter((_, i) => comesUp[i]));
    expect(cluster.size, `seed ${seed}`).toEqual({ hosts, kept: hosts, growths: {} });
  }
});

test("a driver that is killed leaves no rank without a secret, and what it has left goes when the mesh gets smaller", async () => {
  for (const seed of seeds) {
    const cluster = new SimulatedCluster(seed);
    const life = Math.floor(cluster.random() * 8);
    const dying = cluster.grow(cluster.scaler(life), "dying", 6, true);
    const other = cluster.grow(cluster.scaler(), "other", 4, cluster.random() < 0.5);
    await cluster.run(Promise.all([dying, other]));
    expect([2, 4, 6]).toContain(cluster.size.hosts);
    if (await other) expect(cluster.size.kept, `seed ${seed}`).toBeGreaterThanOrEqual(4);
    const shrinking = cluster.scaler().shrink(3);
    await cluster.run(shrinking);
    expect(cluster.size, `seed ${seed}`).toEqual({
      hosts: Math.min(3, (await other) || cluster.size.hosts > 2 ? 3 : 2),
      kept: cluster.size.hosts,
      growths: {},
    });
  }
});

test("a driver that gives hosts back ends the growths that need them, and no others", async () => {
  for (const seed of seeds) {
    const cluster = new SimulatedCluster(seed);
    const small = cluster.grow(cluster.scaler(), "small", 3, true);
    const large = cluster.grow(cluster.scaler(), "large", 5, true);
    const shrinking = cluster.scaler().shrink(3);
    await cluster.run(Promise.all([small, large, shrinking]));
    expect(await small, `seed ${seed}`).toBe(true);
    expect(cluster.size, `seed ${seed}`).toEqual({
      hosts: (await large) && cluster.size.hosts === 5 ? 5 : 3,
      kept: cluster.size.hosts,
      growths: {},
    });
  }
});

test("hosts that have ended by themselves are made again, after the Job has forgotten them", async () => {
  for (const seed of seeds) {
    const cluster = new SimulatedCluster(seed);
    await cluster.run(cluster.grow(cluster.scaler(), "first", 5, true));
    cluster.job = { ...cluster.job, status: { completedIndexes: "3,4" } };
    const growths = Promise.all([4, 5].map((hosts) => cluster.grow(cluster.scaler(), `${hosts}`, hosts, true)));
    await cluster.run(growths);
    expect(await growths, `seed ${seed}`).toEqual([true, true]);
    expect(cluster.size, `seed ${seed}`).toEqual({ hosts: 5, kept: 5, growths: {} });
    expect(cluster.job["status"]).toEqual({ completedIndexes: "" });
  }
});

test("a host that has ended by itself below one that is used is an error that says to which size the mesh must shrink first", async () => {
  const cluster = new SimulatedCluster(1);
  await cluster.run(cluster.grow(cluster.scaler(), "first", 5, true));
  cluster.job = { ...cluster.job, status: { completedIndexes: "3" } };
  const growing = cluster.scaler().grow("next", asked, 5, async () => {});
  const message = growing.catch((error: Error) => error.message);
  await cluster.run(message);
  expect(await message).toBe(
    "workers[3] has ended for good, and Kubernetes makes no other pod for it while workers[4] is there; resize the mesh to 3 hosts first, " +
      "which ends all hosts beyond",
  );
});

test("a Job that is gone, of another run, held, or that the API server does not resize is an error", async () => {
  const cluster = new SimulatedCluster(1);
  const job = cluster.job;
  const messageWith = async (other: ApiObject, patch?: () => Promise<never>) => {
    const api = { get: async () => other, patch: patch ?? (async () => other) };
    const scaler = new JobScaler({ api, name: "viceroy-workers", applyId: "run", mesh: "workers", asked });
    return scaler.grow("id", asked, 3, async () => {}).then(String, (error: Error) => error.message);
  };
  const labels = { "viceroy/run": "other" };
  expect(await messageWith({ ...job, metadata: { ...job.metadata, labels } })).toBe(
    "Job viceroy-workers of Kubernetes was deleted",
  );
  const conditions = [{ type: "Failed", status: "True", reason: "FailedIndexes", message: "Job has failed indexes" }];
  expect(await messageWith({ ...job, status: { conditions } })).toBe(
    "Job viceroy-workers of Kubernetes has failed (FailedIndexes): Job has failed indexes",
  );
  expect(await messageWith({ ...job, spec: { completions: 2, parallelism: 2, suspend: true } })).toBe(
    "the pods of Job viceroy-workers are held, because it is suspended",
  );
  const refused = async () => {
    throw new KubernetesError('cannot patch jobs "viceroy-workers": spec.completions: field is immutable', {
      status: 422,
    });
  };
  expect(await messageWith(job, refused)).toBe(
    'cannot patch jobs "viceroy-workers": spec.completions: field is immutable; jobs grow on Kubernetes 1.27 and later',
  );
});
