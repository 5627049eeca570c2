/**
 * A process on an attached host as the backend of a proc. The daemon of the host starts it, sends it signals, and
 * reports its output and its exit. Its link goes through the daemon, unless a direct one is possible.
 */
import type { HostSignal } from "../../../generated/host-agent.js";
import type { ProcessEnding, ProcessOutput } from "../../../generated/proc-agent.js";
import { Deferred } from "../../link/deferred.js";
import type { KeepAlive } from "../../link/keep-alive.js";
import type { Pipe } from "../../link/transport/pipe.js";
import type { FailureCause } from "../../supervise/failure-cause.js";
import type { ProcBackend, ProcExit } from "../launch/proc-backend.js";
import { LineWriter, type Stdio } from "../launch/stdio.js";

export interface HostedBackendOptions {
  /** The link to the process. Rejects when the process could not be started. */
  readonly pipe: Promise<Pipe>;
  readonly stdio: Stdio;
  readonly label: string;
  readonly rank: number;
  readonly keepAlive: KeepAlive;
  readonly signal: (signal: HostSignal) => void;
  /** The host, for messages to people: `on host tcp://n1:26600`. */
  readonly hostDescription: string;
}

export class HostedBackend implements ProcBackend {
  readonly pipe: Promise<Pipe>;
  readonly #exited = new Deferred<ProcExit>();
  readonly #outputEnded = new Deferred<void>();
  readonly #options: HostedBackendOptions;
  readonly #print: (output: ProcessOutput) => void;
  #hasExited = false;

  constructor(options: HostedBackendOptions) {
    this.pipe = options.pipe;
    this.#options = options;
    this.#print = makePrinter(options);
  }

  get exited(): Promise<ProcExit> {
    return this.#exited.promise;
  }

  get outputEnded(): Promise<void> {
    return this.#outputEnded.promise;
  }

  /** Records the exit that the host reports. Some output may still arrive afterwards. */
  reportExit({ ran, cause, clean }: ProcessEnding): void {
    this.#recordExit({
      kind: ran ? "process" : "spawn",
      cause: { ...cause, message: `${cause.message} ${this.#options.hostDescription}` },
      clean,
    });
  }

  /** Records the exit when the host cannot report it any more. */
  reportLost(kind: ProcExit["kind"], cause: FailureCause): void {
    this.#recordExit({ kind, cause });
    this.endOutput();
  }

  /** Whether the process has ended. */
  get hasExited(): boolean {
    return this.#hasExited;
  }

  printOutput(output: ProcessOutput): void {
    this.#print(output);
  }

  /** Marks the output of the process as complete. */
  endOutput(): void {
    this.#outputEnded.resolve();
  }

  ref(): void {
    if (this.#hasExited) return;
    const { keepAlive } = this.#options;
    keepAlive.hold();
    void this.exited.then(() => keepAlive.release());
  }

  #recordExit(end: ProcExit): void {
    this.#hasExited = true;
    this.#exited.resolve(end);
  }

  terminate(): void {
    this.#options.signal("terminate");
  }

  kill(): void {
    this.#options.signal("kill");
  }
}

const droppedReason = "they did not leave the host in time";

/** Returns the function that forwards output, in the same way as for a local child process. */
function makePrinter({ stdio, label, rank }: HostedBackendOptions): (output: ProcessOutput) => void {
  if (stdio === "ignore") return () => {};
  if (typeof stdio === "function") {
    return ({ stderr, lines, dropped }) => {
      const origin = { stream: stderr ? ("stderr" as const) : ("stdout" as const), label, rank };
      if (dropped > 0) stdio(`(${dropped} lines dropped: ${droppedReason})`, origin);
      for (const line of lines) stdio(line, origin);
    };
  }
  const prefix = stdio === "prefix" ? label : "";
  const writers = { stdout: new LineWriter(process.stdout, prefix), stderr: new LineWriter(process.stderr, prefix) };
  return ({ stderr, lines, dropped }) => {
    const writer = stderr ? writers.stderr : writers.stdout;
    if (dropped > 0) writer.reportDropped(dropped, droppedReason);
    for (const line of lines) writer.write(Buffer.from(line));
  };
}
