/**
 * The end of a program, in order: when its work is done, when it is interrupted, when it is told to end. Everything
 * owned is stopped first. Ends that leave no time for that (process.exit, an uncaught exception, kill -9) need no code
 * here: the processes see their links end and leave, and the watcher sees to it that they do.
 */
import { constants } from "node:os";
import { markProgramEnding } from "../../actor/program-end.js";
import type { StopOptions } from "../../actor/reference/proc-hooks.js";

/** What is to be ended. */
export interface ShutdownTarget {
  /** Whether there is nothing to stop. */
  readonly isIdle: boolean;
  stop(options: StopOptions): Promise<void>;
  /** Ends everything at once. */
  kill(): void;
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Terminals, npm and debuggers may each deliver the same Ctrl-C: what comes within this many ms is one. */
const sameKeystrokeMs = 250;

/** In ms: for how long queued messages are handled when the program has nothing more to do. */
const drainAtExitMs = 5000;

/** The program's own code finds what it uses stopped: whatever it makes of that, this is not why the program ends. */
function forceExitCode(code: number): void {
  process.on("exit", () => {
    process.exitCode = code;
  });
  try {
    process.on("uncaughtException", () => {});
  } catch {
    // The prompt of Node.js takes no such listener: it reports errors itself, and lives on.
  }
}

/**
 * Takes over the end of this process, for as long as it lives. A signal that the program itself listens to is the
 * program's to handle.
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
