/** Finds the runtime of the running code, and creates the one of this thread on first use or at the boot of a child. */
import { currentCell, setMainRoot } from "../../actor/context.js";
import { formatId } from "../../link/address.js";
import type { UnhandledFaultHook } from "../../supervise/unhandled-faults.js";
import type { EndProc } from "../agent/proc-runtime.js";
import type { ProcIdentity } from "../launch/proc-backend.js";
import { nodePlatform } from "../platform/node-platform.js";
import { ProcessRuntime, type ProgramIdentity } from "./process-runtime.js";

/** Returns the process to which the running code belongs. */
export function currentRuntime(): ProcessRuntime {
  const { proc } = currentCell();
  const found = ProcessRuntime.of(proc);
  if (found === undefined) throw new Error(`cannot find the process of ${formatId(proc.id)}: it was made without one`);
  return found;
}

let threadRuntime: ProcessRuntime | undefined;

/** Returns the runtime of this thread. A program's runtime is created on first use. */
export function programRuntime(): ProcessRuntime {
  threadRuntime ??= setAsMainRuntime(new ProcessRuntime(nodePlatform, undefined, () => {}));
  return threadRuntime;
}

/**
 * Creates the runtime of this thread with the identity that its parent assigned. Called once, before any other use of
 * the runtime.
 */
export function startChildRuntime(identity: ProcIdentity, leave: EndProc): ProcessRuntime {
  if (threadRuntime !== undefined) throw new Error("cannot boot: this process has a runtime already");
  threadRuntime = setAsMainRuntime(new ProcessRuntime(nodePlatform, identity, leave));
  return threadRuntime;
}

/**
 * Creates the runtime of this thread with the identity of a program whose place it takes. Called once, before any other
 * use of the runtime.
 */
export function startSuccessorRuntime(predecessor: ProgramIdentity): ProcessRuntime {
  if (threadRuntime !== undefined) throw new Error("cannot take over: this process has a runtime already");
  threadRuntime = setAsMainRuntime(new ProcessRuntime(nodePlatform, undefined, () => {}, undefined, predecessor));
  return threadRuntime;
}

function setAsMainRuntime(made: ProcessRuntime): ProcessRuntime {
  setMainRoot(made.mainProc.proc.root);
  return made;
}

/**
 * Sets what happens to failures that no owner has handled, in this process. With a hook, the program and its other
 * meshes continue. Without a hook, the process prints the report and exits with code 1.
 *
 * @example
 * ```ts
 * import { onUnhandledFault } from "viceroy";
 *
 * onUnhandledFault((failure) => console.error(failure.report()));
 * ```
 *
 * @param hook called once for each failure; undefined restores the default
 * @returns the previous hook
 */
export function onUnhandledFault(hook: UnhandledFaultHook | undefined): UnhandledFaultHook | undefined {
  return currentRuntime().unhandledFaults.replaceHook(hook);
}
