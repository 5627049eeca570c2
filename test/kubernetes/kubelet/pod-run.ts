/** The life of a pod on a node of the stand-in: its volumes, its containers in their order, its status, and its end. */
import { rmSync } from "node:fs";
import path from "node:path";
import type { CoreV1Api, V1Container, V1Pod } from "@kubernetes/client-node";
import { ContainerRun } from "./container-run.js";
import { environmentOf, expand } from "./environment.js";
import { entrypointOf } from "./images.js";
import { type PodParts, statusOf } from "./pod-status.js";
import { inContainer } from "./root-file-system.js";
import { makeVolumes, mountsOf } from "./volumes.js";

export interface PodRunOptions {
  readonly core: CoreV1Api;
  /** The folder for the files of the pod, which is removed afterwards. */
  readonly folder: string;
  readonly address: string;
  /** The variables of all containers. */
  readonly env: Readonly<Record<string, string>>;
  readonly authority: string;
  readonly backoff: number;
  /** Stores the status. Calls are not concurrent. */
  readonly report: (status: object) => Promise<void>;
  readonly reportEvent: (reason: string, message: string) => void;
}

export class PodRun {
  readonly init: readonly ContainerRun[];
  readonly main: readonly ContainerRun[];
  readonly #pod: V1Pod;
  readonly #options: PodRunOptions;
  readonly #startTime = new Date();
  #ended = false;
  #stopping: Promise<void> | undefined;
  #eviction: PodParts["eviction"];
  #dirty = false;
  #reporting: Promise<void> | undefined;
  #wake: () => void = () => {};

  constructor(pod: V1Pod, options: PodRunOptions) {
    this.#pod = pod;
    this.#options = options;
    const { initContainers = [], containers, restartPolicy } = pod.spec!;
    // An init container runs until it succeeds, unless nothing in the pod is run again.
    const once = restartPolicy === "Never" ? "Never" : "OnFailure";
    this.init = initContainers.map((container) =>
      this.#container(container, container.restartPolicy === "Always" ? "Always" : once),
    );
    this.main = containers.map((container) => this.#container(container, restartPolicy as "Always"));
  }

  get address(): string {
    return this.#options.address;
  }

  get #volumes(): string {
    return path.join(this.#options.folder, "volumes");
  }

  /** Runs the pod. @returns a promise that resolves when all containers have ended for good */
  async run(): Promise<void> {
    this.#changed();
    if (!(await this.#makeVolumes())) return this.#finish();
    if (await this.#initialize()) {
      await Promise.all(this.main.map((run) => run.run()));
    }
    await Promise.all(this.init.map((run) => run.stop(this.#grace)));
    await this.#finish();
  }

  /** Ends the pod: all containers get SIGTERM, and SIGKILL after the grace period in milliseconds. */
  stop(grace: number): Promise<void> {
    this.#stopping ??= this.#stop(grace);
    return this.#stopping;
  }

  /** Ends the pod as a kubelet does that has no memory left on its node. */
  async evict(message: string): Promise<void> {
    this.#eviction = { reason: "Evicted", message };
    await this.stop(0);
  }

  /** Kills the containers that run, as the kernel does when they have used more memory than their limits. */
  exceedMemory(): void {
    for (const run of [...this.init, ...this.main]) run.exceedMemory();
  }

  container(name: string): ContainerRun | undefined {
    return [...this.init, ...this.main].find(({ spec }) => spec.name === name);
  }

  /** Removes the files of the pod. */
  remove(): void {
    rmSync(this.#options.folder, { recursive: true, force: true });
  }

  get #grace(): number {
    return (this.#pod.spec?.terminationGracePeriodSeconds ?? 30) * 1000;
  }

  async #stop(grace: number): Promise<void> {
    this.#wake();
    await Promise.all(this.main.map((run) => run.stop(grace)));
    await Promise.all(this.init.map((run) => run.stop(grace)));
  }

  async #makeVolumes(): Promise<boolean> {
    const { core, address, authority } = this.#options;
    while (this.#stopping === undefined) {
      try {
        await makeVolumes({ core, pod: this.#pod, podIp: address, authority }, this.#volumes);
        return true;
      } catch (error) {
        this.#options.reportEvent("FailedMount", (error as Error).message.split("\n")[0]!);
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
          setTimeout(resolve, 300);
        });
      }
    }
    return false;
  }

  /** Runs the init containers. @returns whether the main ones may start */
  async #initialize(): Promise<boolean> {
    for (const run of this.init) {
      if (this.#stopping !== undefined) return false;
      const ended = run.run();
      if (run.spec.restartPolicy === "Always") {
        while (!run.isStarted && this.#stopping === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
        continue;
      }
      await ended;
      if (run.exitCode !== 0) return false;
    }
    return this.#stopping === undefined;
  }

  #container(container: V1Container, restartPolicy: "Always" | "OnFailure" | "Never"): ContainerRun {
    const { core, address, backoff } = this.#options;
    const entrypoint = entrypointOf(container.image!);
    return new ContainerRun(container, {
      hasImage: entrypoint !== undefined,
      restartPolicy,
      address,
      backoff,
      onChange: () => this.#changed(),
      launch: async () => {
        const env = await environmentOf(core, this.#pod, address, container, this.#options.env);
        const program = container.command ?? entrypoint!;
        if (entrypoint?.length === 0) return { command: [], env };
        const command = [...program, ...(container.args ?? [])].map((word) => expand(word, env));
        const root = path.join(this.#options.folder, "roots", container.name);
        const hostname = (this.#pod.spec!.hostname ?? this.#pod.metadata!.name!).slice(0, 63);
        const inside = inContainer(
          root,
          hostname,
          mountsOf(container, this.#volumes, env),
          container.workingDir ?? "/",
          command,
        );
        return { command: inside, env: { HOSTNAME: hostname, ...env } };
      },
    });
  }

  async #finish(): Promise<void> {
    this.#ended = true;
    this.#changed();
    await this.#reporting;
  }

  /** Reports the status, once for several changes. */
  #changed(): void {
    this.#dirty = true;
    this.#reporting ??= this.#report();
  }

  async #report(): Promise<void> {
    await Promise.resolve();
    while (this.#dirty) {
      this.#dirty = false;
      const { init, main } = this;
      const parts = {
        init,
        main,
        address: this.#options.address,
        startTime: this.#startTime,
        ended: this.#ended,
        eviction: this.#eviction,
      };
      const status = statusOf(this.#pod, parts);
      this.#pod.status = status;
      await this.#options.report(status);
    }
    this.#reporting = undefined;
  }
}
