/**
 * A byte pipe over the standard input and output of a child process that passes bytes on. The end of the child is the end
 * of the pipe.
 */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import type { Socket } from "node:net";
import { deliverBytes, type PausablePipe, type PipeSink } from "../../../link/transport/pipe.js";

/** The number of characters of the child's complaints that are kept, the last ones. */
const keptCharacters = 2000;

/** Time in ms for a child whose input has ended to end, and for one that was asked to end, before it is ended by a signal. */
const closeMs = 5000;
const terminateMs = 1000;

/** Time in ms for complaints to arrive after the end of the child. A process that it has started can hold its standard error open. */
const complaintMs = 1000;

/** How a child has ended. */
export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The end of what it has written to standard error, 2000 characters at most. */
  readonly said: string;
}

export class ChildPipe implements PausablePipe {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #explain: (end: ChildEnd) => Error | undefined;
  #sink: PipeSink | undefined;
  #error: Error | undefined;
  #said = "";
  #isPaused = false;
  /** Whether this side has closed the pipe. */
  #isClosing = false;
  #hasExited = false;
  #hasEnded = false;
  #timer: NodeJS.Timeout | undefined;

  /**
   * Takes over a child that has just been started.
   * @param explain returns the error of a pipe whose child has ended by itself; undefined if that was in order
   */
  constructor(child: ChildProcessWithoutNullStreams, explain: (end: ChildEnd) => Error | undefined) {
    this.#child = child;
    this.#explain = explain;
    this.unref();
    child.stdin.on("error", () => {});
    child.stdout.on("error", () => {});
    // The peer sends nothing more, and the child ends when its input has ended, too.
    child.stdout.once("end", () => child.stdin.end());
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#said = (this.#said + text).slice(-keptCharacters);
    });
    child.once("exit", () => {
      this.#hasExited = true;
      this.#after(complaintMs, () => child.stderr.destroy());
    });
    child.once("close", (code, signal) => this.#end(code, signal));
  }

  open(sink: PipeSink): void {
    this.#sink = sink;
    if (this.#hasEnded) {
      sink.closed(this.#error);
      return;
    }
    const { stdout } = this.#child;
    stdout.on("data", (bytes: Uint8Array) => deliverBytes(bytes, sink));
    if (this.#isPaused) stdout.pause();
  }

  write(chunks: readonly Uint8Array[], done: () => void): void {
    const { stdin } = this.#child;
    if (!stdin.writable || chunks.length === 0) {
      queueMicrotask(done);
      return;
    }
    const last = chunks.length - 1;
    stdin.cork();
    for (let i = 0; i < last; i++) stdin.write(chunks[i]!);
    stdin.write(chunks[last]!, () => done());
    stdin.uncork();
  }

  close(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#child.stdin.end(() => {
      if (!this.#hasExited) this.#after(closeMs, () => this.#kill());
    });
  }

  destroy(error?: Error): void {
    if (this.#hasEnded) return;
    this.#error ??= error;
    this.#isClosing = true;
    const { stdin, stdout } = this.#child;
    stdin.destroy();
    stdout.destroy();
    this.#kill();
  }

  pause(): void {
    this.#isPaused = true;
    if (this.#sink !== undefined) this.#child.stdout.pause();
  }

  resume(): void {
    this.#isPaused = false;
    if (this.#sink !== undefined) this.#child.stdout.resume();
  }

  ref(): void {
    this.#child.ref();
    for (const stream of this.#sockets) stream.ref();
  }

  unref(): void {
    this.#child.unref();
    for (const stream of this.#sockets) stream.unref();
  }

  get #sockets(): readonly Socket[] {
    const { stdin, stdout, stderr } = this.#child;
    return [stdin, stdout, stderr] as unknown as Socket[];
  }

  /** Asks the child to end, which lets it end what it has started, and ends it if it does not. */
  #kill(): void {
    if (this.#hasExited) return;
    this.#child.kill("SIGTERM");
    this.#after(terminateMs, () => this.#child.kill("SIGKILL"));
  }

  /** Calls a function after a time, in place of the one that waits. */
  #after(ms: number, call: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(call, ms).unref();
  }

  #end(code: number | null, signal: NodeJS.Signals | null): void {
    clearTimeout(this.#timer);
    this.#hasEnded = true;
    if (!this.#isClosing) this.#error ??= this.#explain({ code, signal, said: this.#said });
    this.#sink?.closed(this.#error);
  }
}
