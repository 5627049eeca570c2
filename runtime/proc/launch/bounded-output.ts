/**
 * An output that never blocks its writer. Lines that do not fit are dropped and counted, and the count is printed as
 * soon as there is room again.
 */
import type { Writable } from "node:stream";

/** Maximum number of bytes that wait in an output. */
export const maxBacklogBytes = 16 * 1024 * 1024;

export class BoundedOutput {
  readonly #target: Writable;
  readonly #backlog: number;
  #dropped = 0;

  /** @param backlog in bytes */
  constructor(target: Writable, backlog: number = maxBacklogBytes) {
    this.#target = target;
    this.#backlog = backlog;
  }

  /** @param line with its line break. @param label the name in the message about dropped lines */
  write(line: Buffer | string, label: string): void {
    const target = this.#target;
    if (target.writableLength > this.#backlog) {
      this.#dropped++;
      return;
    }
    if (this.#dropped > 0) this.reportDropped(label, this.#dropped, "nothing reads this output");
    this.#dropped = 0;
    target.write(line);
  }

  /** Prints that lines are missing here. */
  reportDropped(label: string, lines: number, why: string): void {
    this.#target.write(`[${label}] (${lines} lines dropped: ${why})\n`);
  }
}
