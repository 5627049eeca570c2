/**
 * What processes print: forwarded line by line, each with its origin in front, to this process's own output or to a
 * function. Never holds a child up: an output of ours that nobody drains costs lines, which are counted, not time.
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

/** A line longer than this many bytes is forwarded in pieces. */
const maxLineBytes = 65_536;
const lineBreak = 0x0a;
const lineEnd = Buffer.from("\n");

/** Cuts the bytes of a stream into lines; the last one, unfinished, comes when the stream ends. */
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
  // A stream that breaks off has said what it had to say.
  source.on("error", () => {});
  // At its end already: a stream counts as closed before it says so, and whoever waits for that would miss the last line.
  source.once("end", flush);
  source.once("close", flush);
}

/** Forwards each line of `source` to `target`, with `[label] ` in front. */
export function forwardLines(source: Readable, target: Writable, label: string): void {
  const writer = new LineWriter(target, label);
  forEachLine(source, (bytes) => writer.write(bytes));
}

/** Lines with their origin in front, on their way to an output of this process. */
export class LineWriter {
  readonly #output: BoundedOutput;
  readonly #label: string;
  readonly #prefix: Buffer;

  /** @param label empty: nothing stands in front */
  constructor(target: Writable, label: string) {
    this.#output = new BoundedOutput(target);
    this.#label = label;
    this.#prefix = Buffer.from(label === "" ? "" : `[${label}] `);
  }

  /** @param bytes one line, without its line break */
  write(bytes: Uint8Array): void {
    this.#output.write(Buffer.concat([this.#prefix, bytes, lineEnd]), this.#label);
  }

  /** Says that lines are missing here. */
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
    // What V8 dies of stands above a native stack trace that says little.
    this.#fatal = parseFatalLine(line) ?? this.#fatal;
    this.#lines.push(line);
    if (this.#lines.length > this.#limit) this.#lines.shift();
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  /** The cause that the process has printed for its end, most often that V8 ran out of memory. */
  get fatal(): string | undefined {
    return this.#fatal;
  }
}
