/** Limits the memory of processes. There are two ways: control groups of the system, and a watch on the use of memory. */

/**
 * Called when a process has exceeded its limit, and is to be killed.
 *
 * @param used the use of memory in bytes; undefined: the system has killed the process, or one that it has started
 */
export type MemoryExceeded = (used: number | undefined) => void;

export interface MemoryGuard {
  /** The folder of the control groups, which is removed after the end of this process; undefined if there is none. */
  readonly groups: string | undefined;
  /** To be called as soon as a process has been started, before it uses memory. */
  started(pid: number): void;
  /** Limits the memory of a process and of what it starts, in bytes; undefined: no limit. */
  limit(pid: number, bytes: number | undefined, exceeded: MemoryExceeded): void;
  /** To be called when a process has ended. Returns whether the system has killed it because of its limit. */
  ended(pid: number): boolean;
  close(): void;
}
