import { setTimeout as pause } from "node:timers/promises";
import { RdmaAction, type RdmaBuffer, RdmaError } from "viceroy/rdma";
import { EngineActor, type PullStatistics, type TrainerMesh } from "../generated/weights.js";
import { isWhole } from "./model.js";

/** Error codes of a read whose version has been revoked. Stale: revoked so long ago that another grant has its slot. */
const revokedCodes = ["ERR_RDMA_REVOKED", "ERR_RDMA_STALE"];

/** Handles of one version, one from each trainer. */
interface VersionHandles {
  readonly version: number;
  readonly parts: readonly RdmaBuffer[];
}

export class InferenceEngine extends EngineActor {
  #trainers!: TrainerMesh<"trainers">;
  #handles: VersionHandles | undefined;
  /** The version that is served, and the one that is being pulled. A part of a version is never served. */
  #serving: Float32Array[] = [];
  #incoming: Float32Array[] = [];
  readonly #statistics = { version: 0, whole: 0, torn: 0, refused: 0, transport: "" };

  join(trainers: TrainerMesh<"trainers">): void {
    this.#trainers = trainers;
  }

  async requestHandles(): Promise<number> {
    this.#handles = await this.#newest();
    return this.#handles.version;
  }

  async pull(): Promise<number> {
    for (;;) {
      const { version, parts } = this.#handles ?? (await this.#newest());
      this.#handles = undefined;
      try {
        await this.#read(parts);
      } catch (error) {
        if (!(error instanceof RdmaError && revokedCodes.includes(error.code))) throw error;
        // The trainer has newer versions: pull the newest one instead.
        this.#statistics.refused++;
        continue;
      }
      [this.#serving, this.#incoming] = [this.#incoming, this.#serving];
      const whole = this.#serving.every((weights) => isWhole(weights, version));
      this.#statistics[whole ? "whole" : "torn"]++;
      this.#statistics.version = version;
      return version;
    }
  }

  async follow(until: number): Promise<void> {
    while (this.#statistics.version < until) {
      if ((await this.requestHandles()) === this.#statistics.version) await pause(2);
      else await this.pull();
    }
  }

  pulls(): PullStatistics {
    return this.#statistics;
  }

  /** Returns the handles of the newest version that every trainer has published. Trainers do not publish a version at the same moment. */
  async #newest(): Promise<VersionHandles> {
    for (;;) {
      const published = [...(await this.#trainers.published.call()).values()];
      const version = Math.min(...published.map((versions) => versions.at(-1)!.version));
      const parts = published.flatMap((versions) => versions.filter((published) => published.version === version));
      if (parts.length === published.length) return { version, parts: parts.map(({ weights }) => weights) };
    }
  }

  /** Reads all parts in one action. @throws RdmaError when the version has been revoked, before the read or during it */
  async #read(parts: readonly RdmaBuffer[]): Promise<void> {
    const action = new RdmaAction();
    parts.forEach((part, i) => {
      this.#incoming[i] ??= new Float32Array(part.size / 4);
      action.readInto(part, this.#incoming[i]);
    });
    try {
      await action.submit();
      this.#statistics.transport = `${parts[0]!.transport}`;
    } finally {
      for (const part of parts) await part.drop();
    }
  }
}
