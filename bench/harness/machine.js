/** Describes the machine without its name, and measures the load of other programs. */
import { readdirSync, readFileSync } from "node:fs";
import os from "node:os";

/** Returns one line: processor, cores, memory, operating system, Node.js. */
export function describeMachine() {
  const model = os.cpus()[0]?.model.trim() || os.arch();
  const memory = Math.round(os.totalmem() / 2 ** 30);
  return `${os.availableParallelism()} cores of ${model}, ${memory} GiB, ${os.type()} ${os.release().split(/[-+]/)[0]}, Node.js ${process.versions.node}`;
}

/**
 * Processor time in seconds: `busy` of the whole machine, `own` of this process and of its descendants that have ended.
 * Undefined on systems without /proc.
 *
 * @typedef {{ at: number, busy: number, own: number } | undefined} CpuTimes
 * @returns {CpuTimes}
 */
export function cpuTimes() {
  try {
    const [, user, nice, system, , , irq, softirq] = readFileSync("/proc/stat", "latin1").split("\n")[0].split(/\s+/);
    const busy = (Number(user) + Number(nice) + Number(system) + Number(irq) + Number(softirq)) / ticksPerSecond;
    return { at: performance.now() / 1000, busy, own: cpuSeconds("self", true) };
  } catch {
    return undefined;
  }
}

/**
 * Returns the number of cores that other programs kept busy between two readings, or NaN if unknown. The result is correct when
 * all processes that this program started in between have ended.
 */
export function foreignLoad(before, after) {
  if (before === undefined || after === undefined) return Number.NaN;
  const foreign = after.busy - before.busy - (after.own - before.own);
  return Math.max(0, foreign) / (after.at - before.at);
}

/** Returns the processor time (user and system) of a process in seconds. @param ended whether to add its ended descendants */
export function cpuSeconds(pid, ended = false) {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [utime, stime, cutime, cstime] = fields.slice(11, 15).map(Number);
  return (utime + stime + (ended ? cutime + cstime : 0)) / ticksPerSecond;
}

/** USER_HZ, which is 100 on every Linux that Node.js runs on. */
const ticksPerSecond = 100;

/** Returns the ids of all descendants of `pid`. */
export function descendants(pid) {
  const parents = new Map(processes().map((process) => [process.pid, process.parent]));
  return [...parents.keys()].filter((candidate) => {
    for (let at = parents.get(candidate); at !== undefined; at = parents.get(at)) if (at === pid) return true;
    return false;
  });
}

function processes() {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, "latin1");
        return [{ pid: Number(name), parent: Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) }];
      } catch {
        return []; // The process has ended.
      }
    });
}
