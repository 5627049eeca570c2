/** Finds spares: processes that wait to become those of a mesh. */
import { readdirSync, readFileSync } from "node:fs";
import { gone } from "./until.js";

/** Returns the spares of a process that wait. @param owner the id of the process */
export function sparesOf(owner: number): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      if (!(pid > 0) || gone(pid)) return false;
      try {
        const parent = Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]);
        return parent === owner && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("boot.cjs\0--spare\0");
      } catch {
        return false;
      }
    });
}

/** Returns whether a process waits for its order, so that it has loaded the runtime. */
export function hasLoaded(pid: number): boolean {
  const isRunning = /^State:\s*R/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  return readFileSync(`/proc/${pid}/wchan`, "utf8") !== "" && !isRunning;
}
