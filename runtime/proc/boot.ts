/**
 * What a child process or a worker thread begins with: it takes up its link and obeys. User code comes later, when the
 * maker orders the first actor; the maker has long been sending by then.
 */
import { builtins } from "../builtins.js";
import { parentPipe } from "../link/unix/pipe.js";
import { runChild } from "./child.js";
import { becomeChild } from "./local.js";
import { boundOwnOutputs } from "./own-output.js";
import { portPipe } from "./port-pipe.js";
import { parseIdentity } from "./process-body.js";
import type { ThreadData } from "./thread-body.js";

/** The file descriptor of the link: what `launch` hands down. */
const linkDescriptor = 3;

export function boot(): void {
  const identity = parseIdentity(process.argv[2], process.argv[3]);
  if (identity === undefined) {
    bootThread();
    return;
  }
  // What is left is what user code expects to find there.
  process.argv.splice(2);
  boundOwnOutputs();
  const stop = runChild(identity, parentPipe(linkDescriptor), becomeChild);
  onSignals(stop);
}

function bootThread(): void {
  const { isMainThread, workerData } = builtins.workerThreads;
  if (isMainThread) {
    process.stderr.write("cannot boot: this file is run by Viceroy when a program spawns processes\n");
    process.exit(2);
  }
  const { viceroy, port } = workerData as ThreadData;
  runChild(viceroy, portPipe(port), becomeChild);
}

/** Ends by the signal itself, so that its maker sees of what, but in order. */
function onSignals(stop: (reason: string) => Promise<void>): void {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    process.once(signal, () => {
      void stop(`the process was ended by ${signal}`).then(() => process.kill(process.pid, signal));
    });
  }
}
