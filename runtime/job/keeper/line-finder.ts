/** Finds a line in text that comes in pieces. What a login shell prints may precede the first line. */

/** The length of lines that are kept until their end, in characters. Longer lines are none of those that are found. */
const keptCharacters = 1000;

export class LineFinder {
  readonly #line: string;
  readonly #found: () => void;
  #partial = "";

  /** @param found called for each such line */
  constructor(line: string, found: () => void) {
    this.#line = line;
    this.#found = found;
  }

  add(text: string): void {
    const lines = (this.#partial + text).split("\n");
    this.#partial = lines.pop()!.slice(-keptCharacters);
    for (const line of lines) if (line.trimEnd() === this.#line) this.#found();
  }
}
