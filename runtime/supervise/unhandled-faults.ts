/**
 * What happens to a failure that nobody above handled: the end of the supervision tree. By default the process prints
 * the report and ends with code 1; a hook replaces that.
 */
import { thrownStack } from "../thrown.js";
import type { MeshFailure } from "./mesh-failure.js";

/**
 * Receives each failure that no owner has handled. If it throws or rejects, the process prints the report and exits
 * with code 1.
 */
export type UnhandledFaultHook = (failure: MeshFailure) => void | Promise<void>;

/** What unhandled failures need of the process that they end. */
export interface ProcessControl {
  /** To the standard error. */
  print(text: string): void;
  /** Without a code: as it is set to. */
  exit(code?: number): void;
}

/** The end of the line for failures, in one process. */
export class UnhandledFaults {
  readonly #process: ProcessControl;
  #hook: UnhandledFaultHook | undefined;

  constructor(process: ProcessControl) {
    this.#process = process;
  }

  /** @returns the hook that was in place before */
  replaceHook(hook: UnhandledFaultHook | undefined): UnhandledFaultHook | undefined {
    const previous = this.#hook;
    this.#hook = hook;
    return previous;
  }

  /** Never rejects. */
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
