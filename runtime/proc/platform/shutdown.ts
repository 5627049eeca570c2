/**
 * Ends a program in order when its work is done or a signal ends it: everything that it owns is stopped first. Ends
 * without time for that (`process.exit`, an uncaught exception, `kill -9`) need no code here: the child processes see
 * their links end and leave, and the orphan reaper kills those that do not.
 */
import { constants } from "node:os";
import { markProgramEnding } from "../../actor/program-end.js";
import type { StopOptions } from "../../actor/reference/stop-options.js";

/** The state that is stopped at the end of a program. */
export interface ShutdownTarget {
  /** Whether there is nothing to stop. */
  readonly isIdle: boolean;
  stop(options: StopOptions): Promise<void>;
  /** Kills everything immediately. */
  kill(): void;
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Terminals, npm and debuggers may each deliver the same Ctrl-C. Signals within this many ms count as one. */
const sameKeystrokeMs = 250;

/** Time in ms for handling queued messages when the program has nothing more to do. */
const drainAtExitMs = 5000;

/**
 * Fixes the exit code. The program's own code may fail because its meshes are stopped; such errors must not change the
 * code.
 */
function forceExitCode(code: number): void {
  process.on("exit", () => {
    process.exitCode = code;
  });
  try {
    process.on("uncaughtException", () => {});
  } catch {
    // The prompt of Node.js (REPL) does not allow this listener. It reports errors itself and continues.
  }
}

/**
 * Installs handlers for the end of this process. They stay installed. A signal with another listener is left to the
 * program.
 */
export function installShutdownHandlers(all: ShutdownTarget, exit: (code: number) => void = process.exit): void {
  process.on("beforeExit", () => {
    if (!all.isIdle) void all.stop({ reason: "the program has ended", drain: drainAtExitMs });
  });
  let first: number | undefined;
  for (const signal of signals) {
    const onSignal = () => {
      if (process.listenerCount(signal) > 1) return;
      const code = 128 + constants.signals[signal];
      if (first === undefined) {
        first = Date.now();
        markProgramEnding();
        forceExitCode(code);
        void all.stop({ reason: `the program was ended by ${signal}`, drain: 0 }).then(() => exit(code));
      } else if (Date.now() - first > sameKeystrokeMs) {
        all.kill();
        exit(code);
      }
    };
    process.on(signal, onSignal);
  }
}
