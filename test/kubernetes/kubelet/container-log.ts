/** What a container has written, line by line, with the time of each line. */
import { EventEmitter } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

/** How many lines are kept. */
const capacity = 20_000;

export interface LogLine {
  readonly at: Date;
  readonly text: string;
}

export class ContainerLog {
  readonly lines: LogLine[] = [];
  readonly #events = new EventEmitter().setMaxListeners(0);
  /** Whether no further line will come. */
  ended = false;

  /** Reads the output of a process. @returns a promise that resolves at its end */
  async read(...streams: Readable[]): Promise<void> {
    await Promise.all(
      streams.map(async (stream) => {
        for await (const text of createInterface(stream)) this.#add({ at: new Date(), text });
      }),
    );
  }

  #add(line: LogLine): void {
    this.lines.push(line);
    if (this.lines.length > capacity) this.lines.shift();
    this.#events.emit("line", line);
  }

  end(): void {
    this.ended = true;
    this.#events.emit("end");
  }

  /** Calls a function for each further line, and another one at the end. @returns a function that stops it */
  follow(onLine: (line: LogLine) => void, onEnd: () => void): () => void {
    this.#events.on("line", onLine).on("end", onEnd);
    if (this.ended) onEnd();
    return () => this.#events.off("line", onLine).off("end", onEnd);
  }

  /** Returns the end of the log, as the message of a container that has failed: at most 80 lines and 2 KiB. */
  get tail(): string {
    return this.lines
      .slice(-80)
      .map(({ text }) => `${text}\n`)
      .join("")
      .slice(-2048);
  }
}
