/** Tells a waiting user what happens to a job: one line that changes on a terminal, lines elsewhere. */
import type { JobEvent } from "./events.js";
import type { SyncOptions } from "./kernel.js";

/** The part of a stream that progress needs. */
export interface ProgressOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

type SyncProgress = Parameters<NonNullable<SyncOptions["onProgress"]>>[0];

/** Moves the cursor to the start of the line, and clears the line. */
const clearLine = "\r\u001b[K";

export class Progress {
  readonly #job: string;
  readonly #wanted: number;
  readonly #output: ProgressOutput | undefined;
  #up = 0;
  #shown = "";

  /**
   * @param wanted the number of hosts
   * @param output undefined to show nothing
   */
  constructor(job: string, wanted: number, output: ProgressOutput | undefined) {
    this.#job = job;
    this.#wanted = wanted;
    this.#output = output;
  }

  add({ kind, rank, reason }: Pick<JobEvent, "kind" | "rank" | "reason">): void {
    if (kind === "pending") this.#show(`waiting: ${reason}`);
    else if (kind === "running" && rank !== undefined) this.#show(`hosts up ${++this.#up}/${this.#wanted}`);
  }

  /** Shows how many hosts have the code of the program. */
  code(mesh: string, { files, bytes, done, hosts }: SyncProgress): void {
    this.#show(`code of ${files} files, ${(bytes / 1e6).toFixed(1)} MB: on ${done} of ${hosts} hosts of ${mesh}`);
    if (done === hosts) this.end();
  }

  /** Leaves the terminal as it was. */
  end(): void {
    if (this.#shown !== "" && this.#output?.isTTY === true) this.#output.write(clearLine);
    this.#shown = "";
  }

  #show(text: string): void {
    const line = `viceroy job ${this.#job}: ${text}`;
    if (this.#output === undefined || line === this.#shown) return;
    this.#shown = line;
    this.#output.write(this.#output.isTTY === true ? `${clearLine}${line}` : `${line}\n`);
  }
}

/** Returns what tells a waiting user about the code that is brought to the hosts of a mesh. */
export function codeProgress(
  job: string,
  mesh: string,
  { progress: kind }: { readonly progress: "auto" | "silent" },
): Pick<SyncOptions, "onProgress"> {
  if (kind === "silent") return {};
  const progress = new Progress(job, 0, process.stderr);
  return { onProgress: (state) => progress.code(mesh, state) };
}
