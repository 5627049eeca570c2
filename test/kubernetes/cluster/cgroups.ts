/** The control groups of a node, below which all processes of its pods are. Both versions of cgroups are possible. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import path from "node:path";

const base = "/sys/fs/cgroup";
const isUnified = existsSync(path.join(base, "cgroup.controllers"));

function hierarchies(): string[] {
  if (isUnified) return [base];
  return readdirSync(base)
    .map((name) => path.join(base, name))
    .filter((folder) => existsSync(path.join(folder, "cgroup.procs")));
}

/** Creates the group of a node. */
export function makeGroup(name: string): void {
  for (const hierarchy of hierarchies()) {
    const folder = path.join(hierarchy, name);
    mkdirSync(folder, { recursive: true });
    if (isUnified) {
      for (const controller of ["cpu", "cpuset", "memory", "pids"]) {
        for (const place of [base, folder]) writeFileSync(path.join(place, "cgroup.subtree_control"), `+${controller}`);
      }
    }
    // A group of processors is empty at first, and then no process can enter it.
    for (const file of isUnified ? [] : ["cpuset.cpus", "cpuset.mems"]) {
      const parent = path.join(hierarchy, file);
      if (existsSync(parent)) writeFileSync(path.join(folder, file), readFileSync(parent));
    }
  }
}

/** Kills all processes of a group. @returns whether there were some */
export function killGroup(name: string): boolean {
  let found = false;
  for (const hierarchy of hierarchies()) {
    for (const folder of foldersOf(path.join(hierarchy, name))) {
      for (const pid of readFileSync(path.join(folder, "cgroup.procs"), "utf8")
        .split("\n")
        .filter((line) => line !== "")) {
        found = true;
        try {
          process.kill(Number(pid), "SIGKILL");
        } catch {
          // It has ended meanwhile.
        }
      }
    }
  }
  return found;
}

/** Removes the group of a node, whose processes have ended. */
export function removeGroup(name: string): void {
  for (const hierarchy of hierarchies()) {
    for (const folder of foldersOf(path.join(hierarchy, name)).reverse()) rmdirSync(folder);
  }
}

/** Returns a group and all groups below it, each before those that it contains. */
function foldersOf(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const inside = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [folder, ...inside.flatMap(({ name }) => foldersOf(path.join(folder, name)))];
}
