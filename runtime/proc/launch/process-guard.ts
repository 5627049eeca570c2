/** A guard watches the processes of a mesh from outside, in order to limit their memory and to end what they leave behind. */

/** The option of `spawnProcs` for a guard. It is a symbol because it is no option of programs. */
export const processGuard: unique symbol = Symbol("guard of processes");

export interface ProcessGuard {
  /** The folder of control groups that is removed after the end of this process, if there is one. */
  readonly groups?: string | undefined;
  /**
   * The beginning of a variable of the environment, such as `VICEROY_X=1/`. All processes that have it are killed after the end of
   * this process.
   */
  readonly mark?: string | undefined;
  /** Returns variables of the environment of the next process. Called before each start, which `started` follows. */
  environment?(): Readonly<Record<string, string>>;
  /** Called as soon as a process has been started. */
  started(pid: number): void;
  /** Called when a process has ended. Returns why it was killed, if that is known; its failure says so. */
  ended(pid: number): string | undefined;
}
