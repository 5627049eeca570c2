/**
 * The entry point of a child process or a worker thread: it opens the link to the parent and executes orders. User code
 * is loaded when the parent orders the first actor. The parent may send messages before this code runs.
 */
import { lazyModules } from "../../lazy-modules.js";
import { messagePortPipe } from "../../link/transport/thread/pipe.js";
import { parentPipe } from "../../link/transport/unix/connect.js";
import { parseIdentity } from "../launch/process-backend.js";
import { awaitOrder, SPARE_ARGUMENT } from "../launch/spare-processes.js";
import type { ThreadData } from "../launch/thread-backend.js";
import { limitOwnOutputs } from "../platform/own-output.js";
import { startChildRuntime } from "./current-runtime.js";
import { runChild } from "./run-child.js";

/** The file descriptor of the link, as `launchProcess` passes it. */
const linkDescriptor = 3;

/** Starts the runtime of this child process or thread from its arguments, or exits with code 2 in any other process. */
export function boot(): void {
  const [own, runDir] = process.argv[2] === SPARE_ARGUMENT ? awaitOrder(linkDescriptor) : process.argv.slice(2);
  const identity = parseIdentity(own, runDir);
  if (identity === undefined) {
    bootThread();
    return;
  }
  // User code expects only its own arguments here.
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

/** Stops in order at a signal, and then ends by the same signal, so that the parent sees the cause. */
function stopOnSignals(stop: (reason: string) => Promise<void>): void {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    process.once(signal, () => {
      void stop(`the process was ended by ${signal}`).then(() => process.kill(process.pid, signal));
    });
  }
}
