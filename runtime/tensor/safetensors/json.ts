/**
 * The JSON of a header, read from the left to the right, once. Not `JSON.parse`: that takes the last of two equal keys, and makes objects of
 * whatever it is given, however deep. Here what is not expected is an error where it stands.
 */
export class HeaderText {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** What stands next, without white space before it; the empty text at the end. */
  peek(): string {
    for (;;) {
      const character = this.#text.charAt(this.#at);
      if (character !== " " && character !== "\n" && character !== "\r" && character !== "\t") return character;
      this.#at++;
    }
  }

  /** @throws SyntaxError if something else stands next */
  expect(character: string): void {
    if (this.peek() !== character) throw this.wrong(JSON.stringify(character));
    this.#at++;
  }

  /** Whether a list or an object goes on: takes the comma, or what closes it. */
  next(close: string): boolean {
    const character = this.peek();
    if (character !== "," && character !== close) throw this.wrong(`"," or ${JSON.stringify(close)}`);
    this.#at++;
    return character === ",";
  }

  /** Nothing but white space is left. */
  end(): void {
    if (this.peek() !== "") throw this.wrong("the end");
  }

  text(): string {
    this.expect('"');
    const from = this.#at - 1;
    for (let at = this.#at; at < this.#text.length; at++) {
      const character = this.#text.charAt(at);
      if (character === "\\") at++;
      else if (character === '"') {
        this.#at = at + 1;
        return this.#unescaped(from);
      }
    }
    this.#at = this.#text.length;
    throw this.wrong('"\\""');
  }

  /** An integer from 0 on, without sign, fraction or exponent. */
  integer(): number {
    this.peek();
    const digits = /(?:0|[1-9][0-9]{0,15})(?![0-9.eE])/y;
    digits.lastIndex = this.#at;
    const [found] = digits.exec(this.#text) ?? [];
    if (found === undefined || !Number.isSafeInteger(Number(found))) throw this.wrong("an integer from 0 to 2^53 - 1");
    this.#at += found.length;
    return Number(found);
  }

  /** Keys and values of an object, which has each key once. */
  object(value: (key: string) => void): void {
    const keys = new Set<string>();
    this.expect("{");
    if (this.#closed("}")) return;
    do {
      const key = this.text();
      if (keys.has(key)) throw new SyntaxError(`it has the key ${JSON.stringify(key)} twice`);
      keys.add(key);
      this.expect(":");
      value(key);
    } while (this.next("}"));
  }

  integers(most: number): number[] {
    const all: number[] = [];
    this.expect("[");
    if (this.#closed("]")) return all;
    do {
      if (all.length === most) throw this.wrong(`at most ${most} numbers`);
      all.push(this.integer());
    } while (this.next("]"));
    return all;
  }

  wrong(expected: string): SyntaxError {
    const found = this.peek() === "" ? "the end" : JSON.stringify(this.#text.slice(this.#at, this.#at + 12));
    return new SyntaxError(`at character ${this.#at} of its header: expected ${expected}, got ${found}`);
  }

  #closed(close: string): boolean {
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
    throw this.wrong("text without control characters, with escapes of JSON");
  }
}
