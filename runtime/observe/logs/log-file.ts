/** A file to which lines are appended. If the file cannot be written, lines are dropped and counted. */
import { createWriteStream, type WriteStream } from "node:fs";
import type { Clock } from "../../link/clock.js";

/** Maximum number of bytes that wait to be written. */
const MOST_WAITING_BYTES = 16 * 1024 * 1024;
/** Time in ms after an error until the file is opened again. */
const RETRY_PAUSE_MS = 1000;

export class LogFile {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #warn: (message: string) => void;
  #stream: WriteStream | undefined;
  #retryAt = 0;
  #dropped = 0;
  #dropReason = "";

  constructor(path: string, clock: Clock, warn: (message: string) => void) {
    this.#path = path;
    this.#clock = clock;
    this.#warn = warn;
  }

  /** @param line with its line break */
  write(line: string): void {
    const stream = this.#open();
    if (stream === undefined || stream.writableLength > MOST_WAITING_BYTES) {
      if (stream !== undefined) this.#dropReason = "lines arrive faster than they are written";
      this.#dropped++;
      return;
    }
    if (this.#dropped > 0) stream.write(`(${this.#dropped} lines dropped: ${this.#dropReason})\n`);
    this.#dropped = 0;
    stream.write(line);
  }

  /** Resolves when all lines have been written, or writing has failed. */
  close(): Promise<void> {
    const stream = this.#stream;
    this.#stream = undefined;
    if (stream === undefined || stream.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      stream.once("close", resolve);
      stream.end();
    });
  }

  #open(): WriteStream | undefined {
    if (this.#stream !== undefined) return this.#stream;
    if (this.#clock.now() < this.#retryAt) return undefined;
    const stream = createWriteStream(this.#path, { flags: "a" });
    stream.on("error", ({ message }) => {
      if (this.#dropReason !== message) this.#warn(`cannot write logs to ${this.#path}: ${message}`);
      this.#dropReason = message;
      this.#retryAt = this.#clock.now() + RETRY_PAUSE_MS;
      this.#dropped++;
      if (this.#stream === stream) this.#stream = undefined;
    });
    this.#stream = stream;
    return stream;
  }
}
