import { mkdtempSync, rmSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Checkpoint, type CheckpointStore, fileStore, thisHost } from "viceroy";
import { DepotActor, type DepotState, type DepotTimes } from "../generated/depot.js";
import "../generated/registry.js";

export class LargeDepot extends DepotActor {
  readonly #weights: Float32Array;
  #stopped = Number.NaN;

  constructor(bytes: number) {
    super();
    this.#weights = new Float32Array(bytes / 4).fill(1.5);
  }

  override save(): DepotState {
    const start = performance.now();
    setImmediate(() => {
      this.#stopped = performance.now() - start;
    });
    return { weights: this.#weights };
  }

  override restore(): void {}

  times(): DepotTimes {
    const start = performance.now();
    const copy = this.#weights.slice();
    const took = performance.now() - start;
    if (copy.length !== this.#weights.length) throw new Error("the copy is not complete");
    return { stopped: this.#stopped, copy: took };
  }
}

const place = { mesh: "depot", rank: 0 };

/**
 * Spawns an actor with a large state, and a store in a new directory.
 *
 * @param links `memory` for a process that shares memory with this one, `socket` for one that does not
 */
export async function spawnDepot(bytes: number, links: "memory" | "socket") {
  const directory = mkdtempSync(join(process.env["VICEROY_BENCH_DISK"] ?? tmpdir(), "depot-"));
  let last: Checkpoint | undefined;
  const kept: CheckpointStore = {
    async write(_place, checkpoint) {
      last = checkpoint;
    },
    read: async () => undefined,
    delete: async () => {},
  };
  const files = fileStore(directory);
  const procs = thisHost().spawnProcs({}, { env: { VICEROY_LINKS: links } });
  const depot = procs.with({ restart: { from: "checkpoint", store: kept } }).spawn("depot", LargeDepot, bytes);
  await depot.ready;
  return {
    /** Takes a checkpoint into the memory of this process. */
    async memory() {
      const start = performance.now();
      await depot.checkpoint();
      const total = performance.now() - start;
      return { total, ...(await depot.times.callOne()) };
    },
    /** Writes the last checkpoint by the store of files. */
    async file() {
      const start = performance.now();
      await files.write(place, last!);
      return performance.now() - start;
    },
    /** Writes the same bytes to a file, and waits for the disk. */
    async plainFile() {
      const start = performance.now();
      const handle = await open(join(directory, "plain"), "w");
      await handle.writeFile(last!.state);
      await handle.sync();
      await handle.close();
      return performance.now() - start;
    },
    /** Writes the same bytes to a temporary file, waits for the disk, and renames the file. */
    async replacedFile() {
      const start = performance.now();
      const handle = await open(join(directory, "replaced.tmp"), "w");
      await handle.writeFile(last!.state);
      await handle.sync();
      await handle.close();
      await rename(join(directory, "replaced.tmp"), join(directory, "replaced"));
      return performance.now() - start;
    },
    async stop() {
      await procs.stop();
      rmSync(directory, { recursive: true });
    },
  };
}
