/**
 * What happens to a failure that nobody above handled: the end of the supervision tree. By default the process prints
 * the report and ends with code 1; a hook replaces that.
 */
import type { MeshFailure } from "./failure.js";

/** Told of each failure that no owner handled. When it throws, the process ends as it would without a hook. */
export type UnhandledFaultHook = (failure: MeshFailure) => void | Promise<void>;

function printAndExit(failure: MeshFailure): void {
  process.stderr.write(`unhandled fault: ${failure.report()}\n`);
  process.exit(1);
}

let current: UnhandledFaultHook | undefined;

/**
 * Replaces what happens to unhandled failures in this process: with a hook, the root lives on and its other meshes
 * stay. `undefined` brings the default back: print the report, exit with code 1.
 * @returns the hook that was in place before
 */
export function onUnhandledFault(hook: UnhandledFaultHook | undefined): UnhandledFaultHook | undefined {
  const previous = current;
  current = hook;
  return previous;
}

/** The end of the line for a failure. Never rejects. */
export async function unhandledFault(failure: MeshFailure): Promise<void> {
  if (current === undefined) {
    printAndExit(failure);
    return;
  }
  try {
    await current(failure);
  } catch (error) {
    process.stderr.write(
      `the hook for unhandled faults threw: ${error instanceof Error ? error.stack : String(error)}\n`,
    );
    printAndExit(failure);
  }
}
