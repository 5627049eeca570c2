/**
 * Forwards the output of processes, line by line and with a prefix that names the origin, to the output of this process
 * or to a function. It never blocks a child: if an output of this process is not read, lines are dropped and counted.
 */
import type { Readable, Writable } from "node:stream";
import { BoundedOutput } from "./bounded-output.js";
import { parseFatalLine } from "./fatal-line.js";

/** The proc that printed a line. */
export interface LineOrigin {
  /** The output that the line was printed to. */
  readonly stream: "stdout" | "stderr";
  /** The printed prefix without its brackets: `gpus=1`, or the name of a mesh without dimensions. */
  readonly label: string;
  /** The rank of the proc in the mesh that was spawned, from 0. */
  readonly rank: number;
}

/**
 * The destination of the output of processes.
 *
 * - `"prefix"`: this process prints each line with a prefix: `[gpus=1] text`.
 * - `"inherit"`: the processes write to the outputs of this process, without a prefix.
 * - `"ignore"`: the output is discarded.
 * - A function receives each line, without its line break.
 */
export type Stdio = "prefix" | "inherit" | "ignore" | ((line: string, origin: LineOrigin) => void);

/** Maximum number of bytes that are kept of an unfinished line. A longer line is forwarded in pieces. */
const maxLineBytes = 65_536;
const lineBreak = 0x0a;
const lineEnd = Buffer.from("\n");

/** Splits the bytes of a stream into lines. An unfinished last line is delivered when the stream ends. */
export function forEachLine(source: Readable, line: (bytes: Buffer) => void): void {
  let rest: Buffer[] = [];
  let held = 0;
  const flush = () => {
    if (held === 0) return;
    line(rest.length === 1 ? rest[0]! : Buffer.concat(rest));
    rest = [];
    held = 0;
  };
  source.on("data", (chunk: Buffer) => {
    let start = 0;
    for (let end = chunk.indexOf(lineBreak); end !== -1; end = chunk.indexOf(lineBreak, start)) {
      if (held === 0) line(chunk.subarray(start, end));
      else {
        rest.push(chunk.subarray(start, end));
        flush();
      }
      start = end + 1;
    }
    if (start === chunk.length) return;
    rest.push(chunk.subarray(start));
    held += chunk.length - start;
    if (held >= maxLineBytes) flush();
  });
  // A stream that fails delivers no more data; "close" follows.
  source.on("error", () => {});
  // The last line is flushed at "end", because a stream counts as closed before it emits "close".
  source.once("end", flush);
  source.once("close", flush);
}

/** Forwards each line of `source` to `target`, with the prefix `[label] `. */
export function forwardLines(source: Readable, target: Writable, label: string): void {
  const writer = new LineWriter(target, label);
  forEachLine(source, (bytes) => writer.write(bytes));
}

/** Writes lines with their origin as a prefix to an output of this process. */
export class LineWriter {
  readonly #output: BoundedOutput;
  readonly #label: string;
  readonly #prefix: Buffer;

  /** @param label the origin; empty for no prefix */
  constructor(target: Writable, label: string) {
    this.#output = new BoundedOutput(target);
    this.#label = label;
    this.#prefix = Buffer.from(label === "" ? "" : `[${label}] `);
  }

  /** @param bytes one line, without its line break */
  write(bytes: Uint8Array): void {
    this.#output.write(Buffer.concat([this.#prefix, bytes, lineEnd]), this.#label);
  }

  /** Prints that lines are missing here. */
  reportDropped(lines: number, why: string): void {
    this.#output.reportDropped(this.#label, lines, why);
  }
}

/** The last lines of a standard error, for the report of a failure. */
export class StderrTail {
  readonly #lines: string[] = [];
  readonly #limit: number;
  #fatal: string | undefined;

  constructor(limit = 20) {
    this.#limit = limit;
  }

  push(bytes: Buffer): void {
    const line = bytes.toString("utf8", 0, 1000);
    // V8 prints the reason above a native stack trace, which would push it out of the last lines.
    this.#fatal = parseFatalLine(line) ?? this.#fatal;
    this.#lines.push(line);
    if (this.#lines.length > this.#limit) this.#lines.shift();
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  /** The reason for its end that the process has printed. The most frequent one is that V8 ran out of memory. */
  get fatal(): string | undefined {
    return this.#fatal;
  }
}
