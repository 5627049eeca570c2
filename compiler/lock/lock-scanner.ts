/** Splits one line of a lock file into words, names, numbers and types. */

/** A syntax error and its column, from 1. */
export class LockSyntaxError extends Error {
  readonly column: number;
  constructor(message: string, column: number) {
    super(message);
    this.column = column;
  }
}

const closers: Readonly<Record<string, string>> = { "<": ">", "[": "]", "(": ")" };

export class LockScanner {
  readonly #line: string;
  #at = 0;

  constructor(line: string) {
    this.#line = line;
    this.#space();
  }

  /** Consumes `text` if it comes next. Returns whether it was consumed. */
  skip(text: string): boolean {
    if (!this.#line.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    this.#space();
    return true;
  }

  expect(text: string): void {
    if (!this.skip(text)) this.#fail(`"${text}"`);
  }

  end(): void {
    if (this.#at < this.#line.length) this.#fail("the end of the line");
  }

  word(what: string): string {
    return this.#match(/[a-z]+/y, what);
  }

  number(): number {
    return Number(this.#match(/-?\d{1,10}(?!\d)/y, "an id"));
  }

  hex(): number {
    return Number(this.#match(/0x[0-9a-f]{8}(?![0-9a-f])/y, "an id of eight hexadecimal digits"));
  }

  /** Reads `key=number` and returns the number. */
  assigned(key: string): number {
    this.expect(`${key}=`);
    return this.number();
  }

  /** Reads a plain word or a JSON string. */
  name(): string {
    if (this.#line[this.#at] !== '"') return this.#match(/[\p{L}_$][\p{L}\p{N}_$./@~-]*/uy, "a name");
    const quoted = this.#match(/"(?:[^"\\]|\\.)*"/y, "a name in quotes");
    try {
      return JSON.parse(quoted) as string;
    } catch {
      return this.#fail("a name in quotes");
    }
  }

  names(): readonly string[] {
    const names = [this.name()];
    while (this.skip(",")) names.push(this.name());
    return names;
  }

  /** Reads the path of a shape: names and punctuation up to the next space outside of quotes. */
  path(): string {
    return this.#match(/(?:"(?:[^"\\]|\\.)*"|[^\s"])+/y, "a name");
  }

  /** Reads a type: up to a comma, a closing bracket or ` was=` outside of brackets and quotes. */
  type(): string {
    const from = this.#at;
    const open: string[] = [];
    let at = from;
    for (; at < this.#line.length; at++) {
      const c = this.#line[at] as string;
      if (c === '"') at += this.#quoted(at) - 1;
      else if (closers[c] !== undefined) open.push(closers[c]);
      else if (c === open.at(-1)) open.pop();
      else if (open.length === 0 && (c === "," || c === ")" || this.#line.startsWith(" was=", at))) break;
    }
    const type = this.#line.slice(from, at).trim();
    if (type === "" || open.length > 0) this.#fail(open.length > 0 ? `"${open.at(-1)}"` : "a type");
    this.#at = at;
    this.#space();
    return type;
  }

  #quoted(at: number): number {
    const quoted = /"(?:[^"\\]|\\.)*"/y;
    quoted.lastIndex = at;
    return quoted.exec(this.#line)?.[0].length ?? 1;
  }

  #match(pattern: RegExp, what: string): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#line)?.[0];
    if (found === undefined) return this.#fail(what);
    this.#at += found.length;
    this.#space();
    return found;
  }

  #space(): void {
    while (this.#line[this.#at] === " ") this.#at++;
  }

  #fail(expected: string): never {
    const rest = this.#line.slice(this.#at, this.#at + 20);
    throw new LockSyntaxError(
      `expected ${expected}, got ${rest === "" ? "the end of the line" : `"${rest}"`}`,
      this.#at + 1,
    );
  }
}
