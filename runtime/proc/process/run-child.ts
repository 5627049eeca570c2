/**
 * The life of a process that a program has made: it takes up its link and obeys, until it is told to leave or its maker is
 * gone.
 */
import type { Pipe } from "../../link/pipe.js";
import type { EndProc } from "../agent/proc-runtime.js";
import type { ProcIdentity } from "../launch/proc-backend.js";
import { settlesWithin } from "../time-limit.js";
import type { ProcessRuntime } from "./process-runtime.js";

/** How long what was said and printed last may take to be on its way, in ms. */
const farewellLimit = 500;

/**
 * @param become makes this process what its maker calls it
 * @returns what stops everything here
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
  const local = become(identity, (reason, code) => void leaving.stopAndExit(local, reason, code));
  local.platform.watchUnexpectedExit?.(() => local.openCalls);
  // The link is what this process lives for.
  local.mainProc.proc.attach(observeClose(pipe, end), identity.launcher ?? identity.parent);
  pipe.ref();
  return (reason) => leaving.stop(local, reason);
}

/** The end of this process, in order: once, whoever asks for it. */
class OrderlyExit {
  readonly #linkEnded: Promise<void>;
  #stopped: Promise<void> | undefined;

  constructor(linkEnded: Promise<void>) {
    this.#linkEnded = linkEnded;
  }

  /** Stops everything here. */
  stop(local: ProcessRuntime, reason: string): Promise<void> {
    this.#stopped ??= local.stop({ reason, drain: 0 });
    return this.#stopped;
  }

  async stopAndExit(local: ProcessRuntime, reason: string, code: number | undefined): Promise<void> {
    const { platform } = local;
    platform.ignoreOutputErrors();
    await this.stop(local, reason);
    local.mainProc.proc.close(reason);
    await settlesWithin(platform.clock, farewellLimit, Promise.all([this.#linkEnded, platform.flushOutput()]));
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
