const [QUOTE, BACKSLASH, SPACE] = [0x22, 0x5c, 0x20];
const INTEGER = /(?:0|[1-9][0-9]{0,15})(?![0-9.eE])/y;

/**
 * Parses the JSON of a header in one pass. `JSON.parse` is not used, since it accepts duplicate keys and builds arbitrarily deep
 * objects. This parser refuses unexpected input at its position.
 */
export class HeaderText {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Skips white space and returns the next character, or the empty text at the end. */
  peek(): string {
    while (" \n\r\t".includes(this.#text.charAt(this.#at)) && this.#at < this.#text.length) this.#at++;
    return this.#text.charAt(this.#at);
  }

  /** Reads `character`. @throws {SyntaxError} when another character is next */
  expect(character: string): void {
    if (this.peek() !== character) throw this.syntaxError(JSON.stringify(character));
    this.#at++;
  }

  /** Reads a comma or the closing character. Returns whether the list or object continues. */
  hasMore(close: string): boolean {
    const character = this.peek();
    if (character !== "," && character !== close) throw this.syntaxError(`"," or ${JSON.stringify(close)}`);
    this.#at++;
    return character === ",";
  }

  /** Refuses anything but white space up to the end. */
  expectEnd(): void {
    if (this.peek() !== "") throw this.syntaxError("the end");
  }

  readString(): string {
    this.expect('"');
    const from = this.#at;
    let plain = true;
    for (let at = from; at < this.#text.length; at++) {
      const code = this.#text.charCodeAt(at);
      if (code === QUOTE) {
        this.#at = at + 1;
        return plain ? this.#text.slice(from, at) : this.#unescaped(from - 1);
      }
      if (code === BACKSLASH) at++;
      if (code === BACKSLASH || code < SPACE) plain = false;
    }
    this.#at = this.#text.length;
    throw this.syntaxError('"\\""');
  }

  /** Reads an integer from 0, without sign, fraction or exponent. */
  readInteger(): number {
    this.peek();
    INTEGER.lastIndex = this.#at;
    const [found] = INTEGER.exec(this.#text) ?? [];
    if (found === undefined || !Number.isSafeInteger(Number(found)))
      throw this.syntaxError("an integer from 0 to 2^53 - 1");
    this.#at += found.length;
    return Number(found);
  }

  /**
   * Reads the keys and values of an object. Refuses duplicate keys.
   * @param known returns whether a key has been read before
   */
  readObject(known: (key: string) => boolean, value: (key: string) => void): void {
    this.expect("{");
    if (this.#takeIfNext("}")) return;
    do {
      const key = this.readString();
      if (known(key)) throw new SyntaxError(`it has the key ${JSON.stringify(key)} twice`);
      this.expect(":");
      value(key);
    } while (this.hasMore("}"));
  }

  readIntegers(most: number): number[] {
    const all: number[] = [];
    this.expect("[");
    if (this.#takeIfNext("]")) return all;
    do {
      if (all.length === most) throw this.syntaxError(`at most ${most} numbers`);
      all.push(this.readInteger());
    } while (this.hasMore("]"));
    return all;
  }

  syntaxError(expected: string): SyntaxError {
    const found = this.peek() === "" ? "the end" : JSON.stringify(this.#text.slice(this.#at, this.#at + 12));
    return new SyntaxError(`at character ${this.#at} of its header: expected ${expected}, got ${found}`);
  }

  #takeIfNext(close: string): boolean {
    if (this.peek() !== close) return false;
    this.#at++;
    return true;
  }

  #unescaped(from: number): string {
    const quoted = this.#text.slice(from, this.#at);
    let text: unknown;
    try {
      text = JSON.parse(quoted);
    } catch {}
    if (typeof text === "string" && text.isWellFormed()) return text;
    this.#at = from;
    throw this.syntaxError("text without control characters, with escapes of JSON");
  }
}
