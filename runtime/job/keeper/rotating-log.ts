/** A log file of bounded size: when it is full, it becomes `<file>.1`, and a new one begins. */
import { closeSync, openSync, renameSync, statSync, writeSync } from "node:fs";

/** Maximum size of a file in bytes. With the file before, twice as much is kept. */
const maxBytes = 16 * 1024 * 1024;

export class RotatingLog {
  readonly #file: string;
  readonly #limit: number;
  #descriptor: number;
  #size: number;

  constructor(file: string, limit = maxBytes) {
    this.#file = file;
    this.#limit = limit;
    this.#descriptor = openSync(file, "a", 0o600);
    this.#size = statSync(file).size;
  }

  /** Writes bytes. What cannot be written, because the disk is full, is dropped: the hosts must go on. */
  write(bytes: Uint8Array): void {
    try {
      if (this.#size + bytes.length > this.#limit && this.#size > 0) this.#rotate();
      this.#size += writeSync(this.#descriptor, bytes);
    } catch {
      // There is no other place for the output.
    }
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #rotate(): void {
    closeSync(this.#descriptor);
    renameSync(this.#file, `${this.#file}.1`);
    this.#descriptor = openSync(this.#file, "a", 0o600);
    this.#size = 0;
  }
}
