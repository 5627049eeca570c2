/** Finds the control group of this process that can limit memory. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { processStat } from "../kernel.js";

export interface OwnGroup {
  readonly version: 1 | 2;
  readonly path: string;
  /** Returns the ids of its processes. */
  pids(): number[];
  /** Returns whether it has no other processes than this one and those that it has started. */
  isOfThisProgram(): boolean;
}

/** Returns the group, or undefined if the system has none. */
export function ownMemoryGroup(): OwnGroup | undefined {
  try {
    const mounts = readFileSync("/proc/self/mountinfo", "latin1").split("\n");
    for (const line of readFileSync("/proc/self/cgroup", "latin1").split("\n")) {
      const [, number, controllers, group] = /^(\d+):([^:]*):(.*)$/.exec(line) ?? [];
      if (group === undefined) continue;
      const version = number === "0" && controllers === "" ? 2 : 1;
      if (version === 1 && !controllers!.split(",").includes("memory")) continue;
      const path = pathOf(version, group, mounts);
      if (path !== undefined && (version === 1 || controlsMemory(path))) return new Group(version, path);
    }
  } catch {
    // The system has no control groups, or this process does not see them.
  }
  return undefined;
}

/** Returns the path of a group in the file system, by the lines of /proc/self/mountinfo. */
function pathOf(version: 1 | 2, group: string, mounts: readonly string[]): string | undefined {
  for (const mount of mounts) {
    const [before = "", after = ""] = mount.split(" - ");
    const [, , , root = "", point = ""] = before.split(" ").map(decodeOctal);
    const [type, , options = ""] = after.split(" ");
    const isWanted = version === 2 ? type === "cgroup2" : type === "cgroup" && options.split(",").includes("memory");
    if (!isWanted) continue;
    // In a container, the root of the mount can be the group of the container.
    if (root === "/") return join(point, group);
    if (group === root || group.startsWith(`${root}/`)) return join(point, group.slice(root.length));
  }
  return undefined;
}

function decodeOctal(text: string): string {
  return text.replace(/\\(\d{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

function controlsMemory(group: string): boolean {
  return readFileSync(join(group, "cgroup.controllers"), "latin1").split(/\s+/).includes("memory");
}

class Group implements OwnGroup {
  readonly version: 1 | 2;
  readonly path: string;

  constructor(version: 1 | 2, path: string) {
    this.version = version;
    this.path = path;
  }

  pids(): number[] {
    return readFileSync(join(this.path, "cgroup.procs"), "latin1").split("\n").filter(Boolean).map(Number);
  }

  isOfThisProgram(): boolean {
    return this.pids().every((pid) => isStartedBy(process.pid, pid));
  }
}

/** Returns whether a process is `ancestor`, or was started by it. */
function isStartedBy(ancestor: number, pid: number): boolean {
  for (let at: number | undefined = pid; at !== undefined && at > 0; at = processStat(at)?.parent) {
    if (at === ancestor) return true;
  }
  return false;
}
