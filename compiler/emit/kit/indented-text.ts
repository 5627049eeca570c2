/**
 * A text of lines and blocks, for notations that are not TypeScript: what is inside a block stands one step deeper. Its
 * comments begin with a mark of their own, `//` or `#`.
 */
export class IndentedText {
  readonly #comment: string;
  readonly #lines: string[] = [];
  #depth = 0;

  /** @param comment what a line of comment begins with */
  constructor(comment: string) {
    this.#comment = comment;
  }

  line(text: string): void {
    this.#lines.push("  ".repeat(this.#depth) + text);
  }

  /** An empty line; none at the start of a block, and never two in a row. */
  blank(): void {
    const last = this.#lines.at(-1);
    if (last === undefined || last === "" || last.endsWith("{")) return;
    this.#lines.push("");
  }

  /** Nothing if `text` is empty. */
  comment(text: string): void {
    if (text === "") return;
    // Other ends of lines than "\n" would end the comment too, for some readers.
    for (const line of text.split(/\r\n|[\n\r\u2028\u2029\u0085\v\f]/)) {
      // A comment is text: characters that no text editor shows have no place in it.
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      this.line(`${this.#comment} ${line.replace(/[\u0000-\u0008\u000e-\u001f\u007f]/g, "")}`.trimEnd());
    }
  }

  /** `head {`, what `body` writes, and `}`; on one line if that is nothing. */
  block(head: string, body: () => void): void {
    const start = this.#lines.length;
    this.line(`${head} {`);
    this.#depth++;
    body();
    this.#depth--;
    if (this.#lines.length > start + 1) this.line("}");
    else this.#lines[start] += "}";
  }

  /** The whole text. */
  toText(): string {
    return `${this.#lines.join("\n").trimEnd()}\n`;
  }
}
