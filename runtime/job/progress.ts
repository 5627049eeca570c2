/** Tells a waiting user what happens to a job: one line that changes on a terminal, lines elsewhere. */
import type { JobEvent } from "./events.js";

/** The part of a stream that progress needs. */
export interface ProgressOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

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
