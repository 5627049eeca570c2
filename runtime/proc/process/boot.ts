/**
 * What a child process or a worker thread begins with: it takes up its link and obeys. User code comes later, when the
 * maker orders the first actor; the maker has long been sending by then.
 */
import { lazyModules } from "../../lazy-modules.js";
import { messagePortPipe } from "../../link/transport/thread/pipe.js";
import { parentPipe } from "../../link/unix/pipe.js";
import { parseIdentity } from "../launch/process-backend.js";
import type { ThreadData } from "../launch/thread-backend.js";
import { limitOwnOutputs } from "../platform/own-output.js";
import { startChildRuntime } from "./process-runtime.js";
import { runChild } from "./run-child.js";

/** The file descriptor of the link: what `launchProcess` hands down. */
const linkDescriptor = 3;

export function boot(): void {
  const identity = parseIdentity(process.argv[2], process.argv[3]);
  if (identity === undefined) {
    bootThread();
    return;
  }
  // What is left is what user code expects to find there.
  process.argv.splice(2);
  limitOwnOutputs();
  const stop = runChild(identity, parentPipe(linkDescriptor), startChildRuntime);
  stopOnSignals(stop);
}

function bootThread(): void {
  const { isMainThread, workerData } = lazyModules.workerThreads;
  if (isMainThread) {
    process.stderr.write("cannot boot: this file is run by Viceroy when a program spawns processes\n");
    process.exit(2);
  }
  const { viceroy, port } = workerData as ThreadData;
  runChild(viceroy, messagePortPipe(port), startChildRuntime);
}

/** Ends by the signal itself, so that its maker sees of what, but in order. */
function stopOnSignals(stop: (reason: string) => Promise<void>): void {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    process.once(signal, () => {
      void stop(`the process was ended by ${signal}`).then(() => process.kill(process.pid, signal));
    });
  }
}
