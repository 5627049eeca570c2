/** Prints lines of many ranks while they arrive: those that arrive within a moment are folded. */
import { type HostLine, RankFolder } from "./fold-ranks.js";

/** Time in ms for which lines are folded. It is longer than the time between two looks at log files. */
const windowMs = 600;

export class FoldingPrinter {
  readonly #folder: RankFolder;
  #timer: NodeJS.Timeout | undefined;

  constructor(print: (line: string) => void) {
    this.#folder = new RankFolder(print);
  }

  add(line: HostLine): void {
    this.#folder.add(line);
    this.#timer ??= setTimeout(() => this.flush(), windowMs);
  }

  /** Prints all lines now. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#folder.flush();
  }
}
