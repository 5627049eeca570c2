/**
 * A process on an attached host as the body of a proc: started, signalled and waited for by the daemon there, which tells of
 * its output and its end. Its link goes through the daemon.
 */
import type { HostSignal, ProcessEnding, ProcessOutput } from "../../generated/host-agent.js";
import type { KeepAlive } from "../link/keep-alive.js";
import type { Pipe } from "../link/pipe.js";
import type { FailureCause } from "../supervise/cause.js";
import type { Body, BodyEnd } from "./body.js";
import { Deferred } from "./deferred.js";
import { LineWriter, type Stdio } from "./stdio.js";

export interface HostedBodyOptions {
  /** Rejects when the process could not be started. */
  readonly pipe: Promise<Pipe>;
  readonly stdio: Stdio;
  readonly label: string;
  readonly rank: number;
  readonly keepAlive: KeepAlive;
  readonly signal: (signal: HostSignal) => void;
  /** For people: `on host tcp://n1:26600`. */
  readonly where: string;
}

export class HostedBody implements Body {
  readonly pipe: Promise<Pipe>;
  readonly #ended = new Deferred<BodyEnd>();
  readonly #finished = new Deferred<void>();
  readonly #options: HostedBodyOptions;
  readonly #print: (output: ProcessOutput) => void;
  #over = false;

  constructor(options: HostedBodyOptions) {
    this.pipe = options.pipe;
    this.#options = options;
    this.#print = printer(options);
  }

  get ended(): Promise<BodyEnd> {
    return this.#ended.promise;
  }

  get finished(): Promise<void> {
    return this.#finished.promise;
  }

  /** The host tells how it ended; what it has printed may still be on its way. */
  ending({ ran, cause, clean }: ProcessEnding): void {
    this.#end({
      kind: ran ? "process" : "spawn",
      cause: { ...cause, message: `${cause.message} ${this.#options.where}` },
      clean,
    });
  }

  /** The host cannot tell any more. */
  lost(kind: BodyEnd["kind"], cause: FailureCause): void {
    this.#end({ kind, cause });
    this.finish();
  }

  /** Whether it has ended. */
  get over(): boolean {
    return this.#over;
  }

  printed(output: ProcessOutput): void {
    this.#print(output);
  }

  /** All that it has printed has come. */
  finish(): void {
    this.#finished.resolve();
  }

  ref(): void {
    if (this.#over) return;
    const { keepAlive } = this.#options;
    keepAlive.hold();
    void this.ended.then(() => keepAlive.release());
  }

  #end(end: BodyEnd): void {
    this.#over = true;
    this.#ended.resolve(end);
  }

  terminate(): void {
    this.#options.signal("terminate");
  }

  kill(): void {
    this.#options.signal("kill");
  }
}

const why = "they did not leave the host in time";

/** As the output of a child of this process goes on, so does that of a process elsewhere. */
function printer({ stdio, label, rank }: HostedBodyOptions): (output: ProcessOutput) => void {
  if (stdio === "ignore") return () => {};
  if (typeof stdio === "function") {
    return ({ stderr, lines, dropped }) => {
      const origin = { stream: stderr ? ("stderr" as const) : ("stdout" as const), label, rank };
      if (dropped > 0) stdio(`(${dropped} lines dropped: ${why})`, origin);
      for (const line of lines) stdio(line, origin);
    };
  }
  const prefix = stdio === "prefix" ? label : "";
  const writers = { stdout: new LineWriter(process.stdout, prefix), stderr: new LineWriter(process.stderr, prefix) };
  return ({ stderr, lines, dropped }) => {
    const writer = stderr ? writers.stderr : writers.stdout;
    if (dropped > 0) writer.dropped(dropped, why);
    for (const line of lines) writer.write(Buffer.from(line));
  };
}
