/**
 * Threads that emit modules of a large schema, beside the one that compiles. They are started before the sources are read, which
 * takes as long as it takes them to be ready, and then all take one module after the other. Which thread has emitted a module
 * makes no difference to its text.
 */
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { type EmittedFile, TypeScriptFiles } from "../emit/index.js";
import type { Schema } from "../model/index.js";
import type { SourceText } from "../source/type-source.js";
import { type EmitJob, type EmitOptions, type EmittedModule, emitShare } from "./emit-job.js";

/** From so many characters of schemas on, what a thread takes over is more than what it takes to start. */
const worthwhile = 100_000;
/** More of them wait for the one that reads the sources. */
const mostThreads = 3;
/** The same from every file of `dist/cli` and `dist/compiler`; there is none beside the sources of the compiler. */
const script = new URL("../compiler/emit-thread.js", import.meta.url);

export class EmitThreads {
  readonly #workers: readonly Worker[];

  private constructor(count: number) {
    // Options of this process, loaders for instance, are none of theirs.
    this.#workers = Array.from({ length: count }, () => new Worker(script, { execArgv: [] }));
  }

  /** @returns undefined where they would be of no use */
  static start(sources: readonly SourceText[]): EmitThreads | undefined {
    const characters = sources.reduce((sum, { text }) => sum + text.length, 0);
    const count = Math.min(availableParallelism() - 1, mostThreads);
    if (characters < worthwhile || count === 0 || !existsSync(script)) return undefined;
    return new EmitThreads(count);
  }

  /** As `emitTypeScript` does it alone. */
  async emitTypeScript(schema: Schema, options: EmitOptions): Promise<readonly EmittedFile[]> {
    const files = new TypeScriptFiles(schema, options);
    const next = new Int32Array(new SharedArrayBuffer(4));
    const { enumNames: _, ...plain } = options;
    const shares = this.#workers.map((worker) => shareOf(worker, { schema, options: plain, next }));
    const emitted = new Map(emitShare(files, next));
    for (const share of await Promise.all(shares)) for (const [index, file] of share) emitted.set(index, file);
    // What a thread has failed at fails here as well, and says why.
    return files.with(Array.from({ length: files.modules }, (_, index) => emitted.get(index) ?? files.module(index)));
  }

  end(): void {
    for (const worker of this.#workers) void worker.terminate();
  }
}

/** What a thread has emitted; nothing when it has failed. */
function shareOf(worker: Worker, job: EmitJob): Promise<readonly EmittedModule[]> {
  return new Promise((resolve) => {
    worker.once("message", resolve);
    worker.once("error", () => resolve([]));
    worker.once("exit", () => resolve([]));
    worker.postMessage(job);
  });
}
