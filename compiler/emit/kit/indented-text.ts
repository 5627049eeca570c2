/**
 * A text of lines and blocks, for notations other than TypeScript. The content of a block is indented by one step. The
 * marker of comments is a parameter: `//` or `#`.
 */
export class IndentedText {
  readonly #comment: string;
  readonly #lines: string[] = [];
  #depth = 0;

  /** @param comment the text that begins a comment line */
  constructor(comment: string) {
    this.#comment = comment;
  }

  line(text: string): void {
    this.#lines.push("  ".repeat(this.#depth) + text);
  }

  /** Writes an empty line, unless the line before is empty or starts a block. */
  blank(): void {
    const last = this.#lines.at(-1);
    if (last === undefined || last === "" || last.endsWith("{")) return;
    this.#lines.push("");
  }

  /** Writes comment lines, unless `text` is empty. */
  comment(text: string): void {
    if (text === "") return;
    // Other line terminators than "
    // " would end the comment for some readers.
    for (const line of text.split(/\r\n|[\n\r\u2028\u2029\u0085\v\f]/)) {
      // A comment is text: characters that no text editor shows have no place in it.
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      this.line(`${this.#comment} ${line.replace(/[\u0000-\u0008\u000e-\u001f\u007f]/g, "")}`.trimEnd());
    }
  }

  /** Writes `head {`, the output of `body`, and `}`. They form one line if `body` writes nothing. */
  block(head: string, body: () => void): void {
    const start = this.#lines.length;
    this.line(`${head} {`);
    this.#depth++;
    body();
    this.#depth--;
    if (this.#lines.length > start + 1) this.line("}");
    else this.#lines[start] += "}";
  }

  /** Returns the text. */
  toText(): string {
    return `${this.#lines.join("\n").trimEnd()}\n`;
  }
}
