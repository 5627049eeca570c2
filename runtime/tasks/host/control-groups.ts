/**
 * The control groups of this process that limit memory, version 1 or 2 of Linux. They are below the group of this process, in a
 * folder whose name contains the id and the start time of this process, so that the next process can remove what a killed one
 * has left.
 */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { processStat } from "../kernel.js";
import { type OwnGroup, ownMemoryGroup } from "./own-group.js";

const folderName = /^viceroy-(\d+)-(\d+)$/;
/** The group of version 2 that gets the program, because a group with groups below it has no processes. */
const programGroup = "program";

/** Returns the control groups of this process, or undefined if it may create none. */
export function openControlGroups(): ControlGroups | undefined {
  const own = ownMemoryGroup();
  const start = processStat(process.pid)?.startTime;
  if (own === undefined || start === undefined) return undefined;
  const parent = parentOf(own.path);
  for (const name of namesIn(parent)) {
    const [, pid, time] = folderName.exec(name) ?? [];
    if (pid !== undefined && processStat(Number(pid))?.startTime !== time) removeTree(join(parent, name));
  }
  const groups = new ControlGroups(parent, join(parent, `viceroy-${process.pid}-${start}`), own);
  return groups.works() ? groups : undefined;
}

/** Returns the group in which folders are made: that of this process, or of the whole program if it has been moved. */
function parentOf(own: string): string {
  const folder = dirname(own);
  return basename(own) === programGroup && folderName.test(basename(folder)) ? dirname(folder) : own;
}

export class ControlGroups {
  /** The folder that contains all groups of this process. */
  readonly folder: string;
  readonly #parent: string;
  readonly #own: OwnGroup;

  constructor(parent: string, folder: string, own: OwnGroup) {
    this.#parent = parent;
    this.folder = folder;
    this.#own = own;
  }

  /** Returns whether groups with limits can be made. */
  works(): boolean {
    const works = this.make("probe") && this.limit("probe", 2 ** 30);
    this.remove("probe");
    if (!works) this.close();
    return works;
  }

  /** Makes a group with one process, or with none. Returns whether it could be made. */
  make(name: string, pid?: number): boolean {
    const group = join(this.folder, name);
    try {
      this.#makeFolder();
      mkdirSync(group, { recursive: true });
      if (this.#own.version === 2) write(group, "memory.oom.group", "1");
      if (pid !== undefined) write(group, "cgroup.procs", String(pid));
      return true;
    } catch {
      this.remove(name);
      return false;
    }
  }

  /**
   * Limits the memory of a group, in bytes; undefined: no limit. Memory of the machine that counts already is added: others can keep what the
   * process has stored there for earlier tasks. Returns whether that was possible.
   */
  limit(name: string, wanted: number | undefined): boolean {
    const group = join(this.folder, name);
    const bytes = wanted && wanted + countIn(join(group, "memory.stat"), "shmem");
    try {
      // Memory that is swapped out would not count.
      if (this.#own.version === 2) {
        writeIfThere(group, "memory.swap.max", bytes === undefined ? "max" : "0");
        write(group, "memory.max", bytes === undefined ? "max" : String(bytes));
      } else {
        writeIfThere(group, "memory.swappiness", "0");
        write(group, "memory.limit_in_bytes", bytes === undefined ? "-1" : String(bytes));
      }
      return true;
    } catch {
      return false;
    }
  }

  /** Returns how often the system has killed processes of a group because of its limit. */
  kills(name: string): number {
    const group = join(this.folder, name);
    // A process can also be killed because the whole machine has no memory left: then the group is not at its limit.
    if (this.#own.version === 2) {
      const file = join(group, "memory.events");
      return Math.min(countIn(file, "oom"), countIn(file, "oom_kill"));
    }
    return Math.min(countIn(join(group, "memory.failcnt")), countIn(join(group, "memory.oom_control"), "oom_kill"));
  }

  /** Kills what is left in a group, and removes it. Returns whether it does not exist any more. */
  remove(name: string): boolean {
    const group = join(this.folder, name);
    killAll(group);
    return removeTree(group);
  }

  /** Removes the folder, unless it contains groups. */
  close(): void {
    tryRemove(this.folder);
  }

  #makeFolder(): void {
    mkdirSync(this.folder, { recursive: true });
    if (this.#own.version === 1) return;
    allowMemory(this.#parent, () => this.#moveProgram());
    allowMemory(this.folder, () => {});
  }

  /** Moves all processes of a group of version 2 to one below it, if they are this program. */
  #moveProgram(): void {
    const group = join(this.folder, programGroup);
    if (!this.#own.isOfThisProgram()) throw new Error(`the control group ${this.#parent} has other processes`);
    mkdirSync(group, { recursive: true });
    for (const pid of this.#own.pids()) write(group, "cgroup.procs", String(pid));
  }
}

/** Lets the groups below a group of version 2 limit memory. @param makeEmpty is called if processes in the group prevent that */
function allowMemory(group: string, makeEmpty: () => void): void {
  const file = "cgroup.subtree_control";
  if (readFileSync(join(group, file), "latin1").split(/\s+/).includes("memory")) return;
  try {
    write(group, file, "+memory");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EBUSY") throw error;
    makeEmpty();
    write(group, file, "+memory");
  }
}

function write(group: string, file: string, text: string): void {
  // Control groups have no other files, and none are created by accident where there is no such group.
  writeFileSync(join(group, file), text, { flag: "r+" });
}

function writeIfThere(group: string, file: string, text: string): void {
  try {
    write(group, file, text);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

/** Returns the number after a name, or the only number of a file; 0 if it is not there. */
function countIn(file: string, name?: string): number {
  try {
    const text = readFileSync(file, "latin1");
    return Number(name === undefined ? text : new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1]) || 0;
  } catch {
    return 0;
  }
}

function killAll(group: string): void {
  let pids: string[] = [];
  try {
    pids = readFileSync(join(group, "cgroup.procs"), "latin1").split("\n");
  } catch {
    // The group has been removed.
  }
  for (const pid of pids.map(Number)) {
    try {
      // 0 stands for a process that is not visible here, and as an argument for the own process group.
      if (pid > 0) process.kill(pid, "SIGKILL");
    } catch {
      // The process has ended.
    }
  }
}

function namesIn(group: string): string[] {
  try {
    return readdirSync(group, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return [];
  }
}

/** Removes a group and those below it. Groups with processes stay. Returns whether it does not exist any more. */
function removeTree(group: string): boolean {
  for (const name of namesIn(group)) removeTree(join(group, name));
  return tryRemove(group);
}

function tryRemove(group: string): boolean {
  try {
    rmdirSync(group);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}
