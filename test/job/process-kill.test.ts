/** Tests that nothing of a large job of processes is left when `kill` has resolved: 3 rounds, or 100 in the long profile. */
import { existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ProcessJob } from "viceroy/job";
import { beforeAll, expect, test } from "vitest";
import { type Crew, loadCrew } from "../proc/crew.js";
import { collectUnhandledFaults } from "../proc/unhandled-faults.js";
import { cases } from "../profile.js";
import { processesOf } from "./job-program.js";

const hosts = 8;
const perHost = 4;
const rounds = cases(3, 100);

let crew: Crew;
collectUnhandledFaults();
beforeAll(async () => {
  crew = await loadCrew();
});

/** On each host, a process that has left its session and ignores SIGTERM, and one that is stopped, run beside the daemon. */
const setup = `setsid sh -c 'trap "" TERM HUP; while :; do sleep 1; done' > /dev/null 2>&1 &
setsid sh -c 'kill -STOP $$' > /dev/null 2>&1 &`;

test(
  `nothing of ${hosts} hosts with ${perHost} processes each is left after kill, in ${rounds} of ${rounds} rounds`,
  async () => {
    for (let round = 0; round < rounds; round++) {
      const job = new ProcessJob({ meshes: { workers: { hosts } }, cache: null, progress: "silent", setup });
      const { workers } = await job.state();
      const procs = workers.spawnProcs({ gpus: perHost });
      const pids = [...(await procs.spawn("crew", crew.SteelWorker).where.call()).values()].map(({ pid }) => pid);
      expect(pids).toHaveLength(hosts * perHost);
      const applyId = job.applyId!;
      const sessions = new Set(processesOf(applyId).map(sessionOf));
      // Each host, and both of its other processes, lead sessions of their own.
      expect(sessions.size).toBeGreaterThanOrEqual(3 * hosts);
      await job.kill();
      expect(processesOf(applyId)).toEqual([]);
      expect(existsSync(join(tmpdir(), `vj-${applyId.slice(0, 13)}`))).toBe(false);
    }
  },
  60_000 + rounds * 30_000,
);

/** Returns the session of a process; 0 if it has ended. */
function sessionOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[3]);
  } catch {
    return 0;
  }
}
