/**
 * What a child process or a worker thread begins with: it takes up its link and obeys. User code comes later, when the
 * maker orders the first actor; the maker has long been sending by then.
 */
import { builtins } from "../builtins.js";
import type { Pipe } from "../link/pipe.js";
import { fdPipe } from "../link/unix/pipe.js";
import type { Identity } from "./body.js";
import { becomeChild, type Local } from "./local.js";
import { portPipe } from "./port-pipe.js";
import { parseIdentity } from "./process-body.js";
import type { ThreadData } from "./thread-body.js";
import { within } from "./within.js";

/** The file descriptor of the link: what `launch` hands down. */
const linkDescriptor = 3;
/** How long what was said last may take to be on its way, in ms. */
const farewell = 500;

export function boot(): void {
  const identity = parseIdentity(process.argv[2], process.argv[3]);
  if (identity === undefined) {
    bootThread();
    return;
  }
  // What is left is what user code expects to find there.
  process.argv.splice(2);
  const stop = run(identity, fdPipe(linkDescriptor));
  onSignals(stop);
}

function bootThread(): void {
  const { isMainThread, workerData } = builtins.workerThreads;
  if (isMainThread) {
    process.stderr.write("cannot boot: this file is run by Viceroy when a program spawns processes\n");
    process.exit(2);
  }
  const { viceroy, port } = workerData as ThreadData;
  run(viceroy, portPipe(port));
}

/** @returns what stops everything here */
function run(identity: Identity, pipe: Pipe): (reason: string) => Promise<void> {
  let end: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const leaving = new Leaving(ended);
  const local = becomeChild(identity, (reason) => void leaving.leave(local, reason));
  // The link is what this process lives for.
  local.home.proc.attach(observed(pipe, end), identity.parent);
  pipe.ref();
  return (reason) => leaving.stop(local, reason);
}

/** The end of this process, in order: once, whoever asks for it. */
class Leaving {
  readonly #linkEnded: Promise<void>;
  #stopped: Promise<void> | undefined;

  constructor(linkEnded: Promise<void>) {
    this.#linkEnded = linkEnded;
  }

  /** Stops everything here. */
  stop(local: Local, reason: string): Promise<void> {
    this.#stopped ??= local.stop({ reason, drain: 0 });
    return this.#stopped;
  }

  async leave(local: Local, reason: string): Promise<void> {
    for (const output of [process.stdout, process.stderr]) output.on("error", () => {});
    await this.stop(local, reason);
    local.home.proc.close(reason);
    await within(farewell, this.#linkEnded);
    process.exit();
  }
}

/** Ends by the signal itself, so that its maker sees of what, but in order. */
function onSignals(stop: (reason: string) => Promise<void>): void {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    process.once(signal, () => {
      void stop(`the process was ended by ${signal}`).then(() => process.kill(process.pid, signal));
    });
  }
}

function observed(pipe: Pipe, ended: () => void): Pipe {
  const { open } = pipe;
  pipe.open = (sink) => {
    open.call(pipe, {
      buffer: () => sink.buffer(),
      received: (n) => sink.received(n),
      closed(error) {
        sink.closed(error);
        ended();
      },
    });
  };
  return pipe;
}
