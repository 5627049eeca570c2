/** Prints progress at each quarter, and at least every second. */
import { formatBytes } from "./report.js";

export class Progress {
  readonly #total: number;
  #done = 0;
  #quarter = 0;
  #last = performance.now();

  constructor(bytes: number) {
    this.#total = bytes;
  }

  add(bytes: number): void {
    this.#done += bytes;
    const share = this.#done / this.#total;
    const quarter = Math.floor(4 * share);
    const now = performance.now();
    if (quarter === this.#quarter && now - this.#last < 1000) return;
    this.#quarter = quarter;
    this.#last = now;
    const percent = String(Math.floor(100 * share)).padStart(3);
    console.log(`  ${percent} %  ${formatBytes(this.#done)} of ${formatBytes(this.#total)}`);
  }
}
