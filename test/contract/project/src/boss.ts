import { setTimeout as delay } from "node:timers/promises";
import { type MeshFailure, thisHost } from "viceroy";
import { BossActor } from "../generated/boss.js";
import type { ProbeMesh } from "../generated/probe.js";
import { RealProbe } from "./probe.js";

export class RealBoss extends BossActor {
  readonly #answer: string;
  readonly #failures: string[] = [];
  #workers: ProbeMesh<"gpus"> | undefined;
  constructor(answer: string) {
    super();
    this.#answer = answer;
  }
  async hire(count: number): Promise<number[]> {
    const procs = thisHost().spawnProcs({ gpus: count });
    this.#workers = procs.spawn("workers", RealProbe);
    return [...(await this.#workers.pid.call()).values()];
  }
  #crew(): ProbeMesh<"gpus"> {
    if (this.#workers === undefined) throw new Error("nobody hired");
    return this.#workers;
  }
  async order(text: string): Promise<string[]> {
    const answers = await this.#crew().echo.callSettled(text);
    return [...answers.values()].map((a) => (a.status === "fulfilled" ? a.value : (a.reason as Error).name));
  }
  crash(rank: number): void {
    this.#crew().slice({ gpus: rank }).exit.broadcast(7);
  }
  failWorker(rank: number): void {
    this.#crew().slice({ gpus: rank }).fail.broadcast("worker gave up");
  }
  failures(): string[] {
    return this.#failures;
  }
  async untilTold(count: number): Promise<string[]> {
    while (this.#failures.length < count) await delay(10);
    return this.#failures;
  }
  override supervise(failure: MeshFailure): boolean {
    this.#failures.push(`${failure.kind} ${failure.mesh} ${failure.ranks.join(",")}`);
    if (this.#answer === "throw") throw new Error("the boss is overwhelmed");
    return this.#answer === "handled";
  }
}
