/** The event loop of the parent as the backend of a proc: a separate set of actors that shares only the thread. */
import type { Clock } from "../../link/clock.js";
import { inProcessPipePair } from "../../link/transport/in-process/pipe.js";
import type { Pipe } from "../../link/transport/pipe.js";
import type { ProcBackend, ProcExit } from "./proc-backend.js";

/** @param start creates the proc at the far end of the pipe, and returns a function that ends it */
export function inlineBackend(clock: Clock, start: (pipe: Pipe, ended: () => void) => () => void): ProcBackend {
  const [near, far] = inProcessPipePair(clock);
  let end: () => void = () => {};
  const exited = new Promise<ProcExit>((resolve) => {
    end = () => resolve({ kind: "process", cause: { name: "ProcEnd", message: "the inline proc has ended" } });
  });
  const kill = start(far, end);
  return { pipe: near, exited, outputEnded: exited, ref() {}, terminate: kill, kill };
}
