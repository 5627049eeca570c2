/** Finds daemons of pods whose processes are visible to the tests. */
import { readFileSync } from "node:fs";

/** Returns the process of the daemon that has started a process. */
export function daemonOf(pid: number): number {
  const of = (file: string) => readFileSync(`/proc/${pid}/${file}`, "utf8");
  return of("cmdline").startsWith("viceroy host") ? pid : daemonOf(Number(/^PPid:\s+(\d+)$/m.exec(of("status"))![1]));
}
