/** Splits bytes that arrive in parts into lines of text. */
import { StringDecoder } from "node:string_decoder";

/** Maximum number of characters that are kept of an unfinished line. A longer line is printed in pieces. */
const maxPartial = 65_536;

export class LineSplitter {
  readonly #print: (line: string) => void;
  readonly #decoder = new StringDecoder("utf8");
  #partial = "";

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  add(bytes: Uint8Array): void {
    const lines = (this.#partial + this.#decoder.write(Buffer.from(bytes))).split("\n");
    this.#partial = lines.pop()!;
    for (const line of lines) this.#print(line);
    if (this.#partial.length >= maxPartial) this.end();
  }

  /** Prints a last line that has no end. */
  end(): void {
    if (this.#partial !== "") this.#print(this.#partial);
    this.#partial = "";
  }
}
