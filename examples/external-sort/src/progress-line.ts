/** Shows how far a sort is, on standard error: a line that is overwritten on a terminal, and otherwise one every 5 seconds. */
import { gigabytes } from "./sizes.js";
import type { Progress } from "./sort-file.js";

const intervalMs = 5000;

export class ProgressLine {
  #begun = performance.now();
  #step: Progress["step"] | undefined;
  #shownAt = performance.now();

  show({ step, done, total }: Progress): void {
    const now = performance.now();
    if (step !== this.#step) {
      this.#begun = now;
      this.#step = step;
    }
    const { isTTY } = process.stderr;
    if (!isTTY && now - this.#shownAt < intervalMs) return;
    this.#shownAt = now;
    const rate = done / 1e3 / Math.max(1, now - this.#begun);
    const text = `${step} ${gigabytes(done)} of ${gigabytes(total)}, ${rate.toFixed(0)} MB/s`;
    process.stderr.write(isTTY ? `\r${text}\x1b[K` : `${text}\n`);
  }

  end(): void {
    if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
  }
}
