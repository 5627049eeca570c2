/**
 * The life of a process that a program has made: it takes up its link and obeys, until it is told to leave or its maker is
 * gone.
 */
import type { Pipe } from "../link/pipe.js";
import type { Identity } from "./body.js";
import type { Local } from "./local.js";
import type { Leave } from "./local-proc.js";
import { within } from "./within.js";

/** How long what was said and printed last may take to be on its way, in ms. */
const farewell = 500;

/**
 * @param become makes this process what its maker calls it
 * @returns what stops everything here
 */
export function runChild(
  identity: Identity,
  pipe: Pipe,
  become: (identity: Identity, leave: Leave) => Local,
): (reason: string) => Promise<void> {
  let end: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const leaving = new Leaving(ended);
  const local = become(identity, (reason, code) => void leaving.leave(local, reason, code));
  local.platform.watchExit?.(() => local.calls);
  // The link is what this process lives for.
  local.home.proc.attach(observed(pipe, end), identity.launcher ?? identity.parent);
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

  async leave(local: Local, reason: string, code: number | undefined): Promise<void> {
    const { platform } = local;
    platform.leaving();
    await this.stop(local, reason);
    local.home.proc.close(reason);
    await within(platform.clock, farewell, Promise.all([this.#linkEnded, platform.printed()]));
    platform.exit(code);
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
