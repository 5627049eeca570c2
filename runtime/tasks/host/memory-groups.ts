/**
 * Limits memory by control groups: each process has one, and the system kills what exceeds the limit of its group. What has been killed is
 * found when the process ends, or by a look from time to time: the system may have killed a process that the worker process had
 * started.
 */
import type { ControlGroups } from "./control-groups.js";
import type { MemoryExceeded, MemoryGuard } from "./memory-guard.js";
import { MemoryWatch } from "./memory-watch.js";

/** The time in ms between two looks. */
const interval = 100;

interface Group {
  readonly name: string;
  /** The number of kills before the limit was set. */
  kills: number;
  exceeded: MemoryExceeded | undefined;
  /** Whether `exceeded` has been called. The end of the process may follow. */
  isTold: boolean;
}

export class MemoryGroups implements MemoryGuard {
  readonly groups: string;
  readonly #control: ControlGroups;
  readonly #limited = new Map<number, Group>();
  /** Limits processes for which no group could be made. */
  readonly #watch = new MemoryWatch();
  /** Groups whose processes have been killed and have not ended yet. */
  readonly #leaving = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(control: ControlGroups) {
    this.#control = control;
    this.groups = control.folder;
  }

  started(pid: number): void {
    const name = String(pid);
    if (this.#control.make(name, pid)) this.#limited.set(pid, { name, kills: 0, exceeded: undefined, isTold: false });
  }

  limit(pid: number, bytes: number | undefined, exceeded: MemoryExceeded): void {
    const group = this.#limited.get(pid);
    if (group === undefined || !this.#control.limit(group.name, bytes)) {
      this.#watch.limit(pid, bytes, exceeded);
      return;
    }
    group.kills = this.#control.kills(group.name);
    group.exceeded = bytes === undefined ? undefined : exceeded;
    group.isTold = false;
    if (bytes !== undefined) this.#lookLater();
  }

  ended(pid: number): boolean {
    this.#watch.ended(pid);
    const group = this.#limited.get(pid);
    if (group === undefined) return false;
    this.#limited.delete(pid);
    const isKilled = this.#wasKilled(group);
    this.#remove(group.name);
    return isKilled;
  }

  close(): void {
    this.#watch.close();
    this.#isClosed = true;
    for (const { name } of this.#limited.values()) this.#leaving.add(name);
    this.#limited.clear();
    this.#lookLater();
    this.#look();
  }

  #wasKilled({ name, kills, exceeded }: Group): boolean {
    return exceeded !== undefined && this.#control.kills(name) > kills;
  }

  #remove(name: string): void {
    if (this.#control.remove(name)) return;
    this.#leaving.add(name);
    this.#lookLater();
  }

  #lookLater(): void {
    this.#timer ??= setInterval(() => this.#look(), interval).unref();
  }

  #look(): void {
    for (const name of this.#leaving) if (this.#control.remove(name)) this.#leaving.delete(name);
    let isNeeded = this.#leaving.size > 0;
    for (const group of this.#limited.values()) {
      const { exceeded, isTold } = group;
      if (exceeded === undefined || isTold) continue;
      if (this.#wasKilled(group)) {
        group.isTold = true;
        exceeded(undefined);
      } else {
        isNeeded = true;
      }
    }
    if (isNeeded) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (this.#isClosed) this.#control.close();
  }
}
