/** Runs a child process: it opens its link and executes orders until it is told to leave or its parent is gone. */
import type { Pipe } from "../../link/transport/pipe.js";
import type { EndProc } from "../agent/proc-runtime.js";
import type { ProcIdentity } from "../launch/proc-backend.js";
import { settlesWithin } from "../time-limit.js";
import type { ProcessRuntime } from "./process-runtime.js";

/** Time limit in ms for sending the last messages. */
const farewellLimit = 500;

/** Time limit in ms for the last output, which a busy parent reads slowly. The parent waits longer for the exit (`mesh/child-proc.ts`). */
const outputLimit = 1500;

/**
 * @param become creates the runtime of this process with its identity
 * @returns a function that stops everything here
 */
export function runChild(
  identity: ProcIdentity,
  pipe: Pipe,
  become: (identity: ProcIdentity, leave: EndProc) => ProcessRuntime,
): (reason: string) => Promise<void> {
  let end: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const leaving = new OrderlyExit(ended);
  const runtime = become(identity, (reason, code) => void leaving.stopAndExit(runtime, reason, code));
  runtime.platform.watchUnexpectedExit?.(() => runtime.openCalls);
  // Without this link the process has no purpose.
  runtime.mainProc.proc.attach(observeClose(pipe, end), identity.launcher ?? identity.parent);
  pipe.ref();
  return (reason) => leaving.stop(runtime, reason);
}

/** Ends this process in order, once, for any number of requests. */
class OrderlyExit {
  readonly #linkEnded: Promise<void>;
  #stopped: Promise<void> | undefined;

  constructor(linkEnded: Promise<void>) {
    this.#linkEnded = linkEnded;
  }

  /** Stops everything in this process. */
  stop(runtime: ProcessRuntime, reason: string): Promise<void> {
    this.#stopped ??= runtime.stop({ reason, drain: 0 });
    return this.#stopped;
  }

  async stopAndExit(runtime: ProcessRuntime, reason: string, code: number | undefined): Promise<void> {
    const { platform } = runtime;
    platform.ignoreOutputErrors();
    await this.stop(runtime, reason);
    runtime.mainProc.proc.close(reason);
    await Promise.all([
      settlesWithin(platform.clock, farewellLimit, this.#linkEnded),
      settlesWithin(platform.clock, outputLimit, platform.flushOutput()),
    ]);
    platform.exit(code);
  }
}

function observeClose(pipe: Pipe, ended: () => void): Pipe {
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
