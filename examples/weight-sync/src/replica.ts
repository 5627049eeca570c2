import { setTimeout as pause } from "node:timers/promises";
import { RdmaAction, type RdmaBuffer, RdmaError } from "viceroy/rdma";
import { EngineActor, type Seen, type TrainerMesh } from "../generated/weights.js";
import { isWhole } from "./model.js";

/** What those are told who use a version that its trainer has taken back; stale: so long ago that something else has its place. */
const revokedCodes = ["ERR_RDMA_REVOKED", "ERR_RDMA_STALE"];

/** Handles of one version, one from each trainer. */
interface OfferedVersion {
  readonly version: number;
  readonly parts: readonly RdmaBuffer[];
}

export class WeightEngine extends EngineActor {
  #trainers!: TrainerMesh<"trainers">;
  #offered: OfferedVersion | undefined;
  /** What is served, and what is being pulled: half a version is never served. */
  #serving: Float32Array[] = [];
  #incoming: Float32Array[] = [];
  readonly #seen = { version: 0, whole: 0, torn: 0, refused: 0, transport: "" };

  join(trainers: TrainerMesh<"trainers">): void {
    this.#trainers = trainers;
  }

  async ask(): Promise<number> {
    this.#offered = await this.#latestCompleteVersion();
    return this.#offered.version;
  }

  async pull(): Promise<number> {
    for (;;) {
      const { version, parts } = this.#offered ?? (await this.#latestCompleteVersion());
      this.#offered = undefined;
      try {
        await this.#read(parts);
      } catch (error) {
        if (!(error instanceof RdmaError && revokedCodes.includes(error.code))) throw error;
        // The trainer is further than that: what is newest now is what should be served.
        this.#seen.refused++;
        continue;
      }
      [this.#serving, this.#incoming] = [this.#incoming, this.#serving];
      const whole = this.#serving.every((weights) => isWhole(weights, version));
      this.#seen[whole ? "whole" : "torn"]++;
      this.#seen.version = version;
      return version;
    }
  }

  async follow(until: number): Promise<void> {
    while (this.#seen.version < until) {
      if ((await this.ask()) === this.#seen.version) await pause(2);
      else await this.pull();
    }
  }

  seen(): Seen {
    return this.#seen;
  }

  /** The newest version of which every trainer has its part: they make them one after the other, but not at the same moment. */
  async #latestCompleteVersion(): Promise<OfferedVersion> {
    for (;;) {
      const published = [...(await this.#trainers.published.call()).values()];
      const version = Math.min(...published.map((versions) => versions.at(-1)!.version));
      const parts = published.flatMap((versions) => versions.filter((one) => one.version === version));
      if (parts.length === published.length) return { version, parts: parts.map(({ weights }) => weights) };
    }
  }

  /** All parts as one step. @throws RdmaError when a version has been taken back, before it or in the middle of it */
  async #read(parts: readonly RdmaBuffer[]): Promise<void> {
    const action = new RdmaAction();
    parts.forEach((part, i) => {
      this.#incoming[i] ??= new Float32Array(part.size / 4);
      action.readInto(part, this.#incoming[i]);
    });
    try {
      await action.submit();
      this.#seen.transport = `${parts[0]!.transport}`;
    } finally {
      for (const part of parts) await part.drop();
    }
  }
}
