/**
 * Folds similar lines. The first line is printed at once. At the end of the window, the number of further lines is
 * printed together with the last one. Lines are similar if they differ only in numbers. The memory for folded lines is
 * bounded.
 */
import type { Clock, Timer } from "../../link/clock.js";
import type { LineOrigin } from "../../proc/launch/stdio.js";

/** Prints a line. @param text the line, without its line break */
export type PrintLine = (text: string, stream: "stdout" | "stderr", label: string) => void;

interface SimilarLines {
  readonly first: LineOrigin;
  last: string;
  more: number;
  /** The origins of all these lines. */
  readonly labels: Set<string>;
}

/** Maximum number of different lines within a window. Further ones are dropped and counted. */
const MOST_DIFFERENT = 1000;
/** Number of characters of a line that are compared. */
const COMPARED_CHARACTERS = 300;

const numbers = /0x[\da-f]+|\b[\da-f]{8,}\b|\d+(?:[.,:]\d+)*/gi;

export class SimilarLineFolder {
  readonly #window: number;
  readonly #clock: Clock;
  readonly #print: PrintLine;
  readonly #similar = new Map<string, SimilarLines>();
  #timer: Timer | undefined;
  #dropped = 0;

  /** @param window in milliseconds */
  constructor(window: number, clock: Clock, print: PrintLine) {
    this.#window = window;
    this.#clock = clock;
    this.#print = print;
  }

  add(line: string, origin: LineOrigin): void {
    const key = `${origin.stream} ${line.slice(0, COMPARED_CHARACTERS).replace(numbers, "#")}`;
    const similar = this.#similar.get(key);
    if (similar !== undefined) {
      similar.more++;
      similar.last = line;
      similar.labels.add(origin.label);
      return;
    }
    if (this.#similar.size >= MOST_DIFFERENT) {
      this.#dropped++;
      return;
    }
    this.#similar.set(key, { first: origin, last: line, more: 0, labels: new Set([origin.label]) });
    this.#timer ??= this.#clock.after(this.#window, () => this.flush());
    this.#print(`[${origin.label}] ${line}`, origin.stream, origin.label);
  }

  /** Prints the counts of the lines that have been folded so far. */
  flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const window = `within ${this.#window} ms`;
    for (const { first, last, more, labels } of this.#similar.values()) {
      if (more === 0) continue;
      const others = labels.size - 1;
      const label = others === 0 ? first.label : `${first.label} and ${others} more`;
      this.#print(`[${label}] (${more} similar ${lines(more)} ${window}, the last:) ${last}`, first.stream, label);
    }
    this.#similar.clear();
    if (this.#dropped > 0) {
      const why = `more than ${MOST_DIFFERENT} different ones ${window}`;
      this.#print(`(${this.#dropped} ${lines(this.#dropped)} dropped: ${why})`, "stderr", "logs");
    }
    this.#dropped = 0;
  }
}

function lines(count: number): string {
  return count === 1 ? "line" : "lines";
}
