/**
 * Failures that no owner up to the root has handled. By default the process prints the report and exits with code 1; a
 * hook replaces this.
 */
import { thrownStack } from "../thrown.js";
import type { MeshFailure } from "./mesh-failure.js";

/**
 * Receives each failure that no owner has handled. If it throws or rejects, the process prints the report and exits
 * with code 1.
 */
export type UnhandledFaultHook = (failure: MeshFailure) => void | Promise<void>;

/** The operations on the process that unhandled failures need. */
export interface ProcessControl {
  /** Writes to the standard error. */
  print(text: string): void;
  /** Ends the process. Without a code, `process.exitCode` applies. */
  exit(code?: number): void;
}

/** Handles the failures of one process that no owner has handled. */
export class UnhandledFaults {
  readonly #process: ProcessControl;
  #hook: UnhandledFaultHook | undefined;

  constructor(process: ProcessControl) {
    this.#process = process;
  }

  /** Sets the hook, or removes it. Returns the previous hook. */
  replaceHook(hook: UnhandledFaultHook | undefined): UnhandledFaultHook | undefined {
    const previous = this.#hook;
    this.#hook = hook;
    return previous;
  }

  /** Whether a hook is set. */
  get hasHook(): boolean {
    return this.#hook !== undefined;
  }

  /** Calls the hook, or prints the report and exits. Never rejects. */
  async handle(failure: MeshFailure): Promise<void> {
    if (this.#hook === undefined) {
      this.#printAndExit(failure);
      return;
    }
    try {
      await this.#hook(failure);
    } catch (error) {
      this.#process.print(`the hook for unhandled faults threw: ${thrownStack(error)}\n`);
      this.#printAndExit(failure);
    }
  }

  #printAndExit(failure: MeshFailure): void {
    this.#process.print(`unhandled fault: ${failure.report()}\n`);
    this.#process.exit(1);
  }
}
