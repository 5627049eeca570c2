/** Tests of scripts of one process per rank on the nodes of a real cluster of Slurm. `viceroy job spmd` runs on the login machine. */
import { appendFileSync, existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { gone, until } from "../../proc/until.js";
import { type JobPlace, startViceroyJob, viceroyJob } from "../batch-driver.js";
import { newCache } from "../job-program.js";
import { onSlurm, type SlurmLab } from "../lab/slurm-tests.js";
import { running } from "../lab/ssh-drivers.js";

const worker = fileURLToPath(new URL("worker.mjs", import.meta.url));
const newFile = () => join(mkdtempSync(join(tmpdir(), "vt-")), "noted");

function newPlace({ cluster }: SlurmLab): JobPlace {
  const options = { meshes: { workers: { hosts: 2, gpus: 2 } } };
  return { job: "slurm", cache: newCache(), options, env: cluster.env, through: cluster.login.through };
}

const linesOf = (out: string) =>
  out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

/** Returns the lines of the ranks, which are JSON themselves, in the order of the ranks. */
const saidBy = (out: string) =>
  linesOf(out)
    .filter(({ stream }) => stream === "stdout")
    .sort((left, right) => left.rank - right.rank)
    .map(({ line }) => JSON.parse(line));

/** Waits until processes have noted themselves. @returns their ids */
async function noted(file: string, count: number): Promise<number[]> {
  const read = () => (existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : []);
  await until(() => read().length === count);
  return read().map((line) => Number(line.split(" ")[1]));
}

onSlurm("scripts of one process per rank on Slurm", (lab) => {
  test("have the variables of launchers, and run again in the same allocation without a place in the queue", async () => {
    const place = newPlace(lab);
    const script = ["--procs", "2", "--gpus-per-proc", "1", "--json", "--", process.execPath, worker, "environment"];
    const first = await viceroyJob(place, "spmd", ...script);
    expect(first).toMatchObject({ code: 0, err: "" });
    const said = saidBy(first.out);
    expect(said).toMatchObject(
      [0, 1, 2, 3].map((rank) => ({
        RANK: `${rank}`,
        WORLD_SIZE: "4",
        LOCAL_RANK: `${rank % 2}`,
        LOCAL_WORLD_SIZE: "2",
        GROUP_RANK: `${Math.floor(rank / 2)}`,
        GROUP_WORLD_SIZE: "2",
        MASTER_ADDR: "n1",
        MASTER_PORT: said[0].MASTER_PORT,
        CUDA_VISIBLE_DEVICES: `${rank % 2}`,
      })),
    );
    const [id] = lab.living();
    // A job that waited for nodes would wait behind this one.
    const other = lab.occupy("--nodes=3", "--exclusive");
    const second = await viceroyJob(place, "spmd", ...script);
    expect(second.code).toBe(0);
    expect(saidBy(second.out)).toHaveLength(4);
    expect(lab.living().sort()).toEqual([id, other].sort());
  });

  test("can meet at the address that they are told", async () => {
    const { code, out } = await viceroyJob(newPlace(lab), "spmd", "--", process.execPath, worker, "listen");
    expect([code, out]).toEqual([0, "workers[0] rank 0 listens\n"]);
  });

  test("end together, and start again by the policy", async () => {
    const place = newPlace(lab);
    const file = newFile();
    const command = [process.execPath, worker, "once", file];
    const { code, out } = await viceroyJob(
      place,
      "spmd",
      "--procs",
      "2",
      "--max-restarts",
      "1",
      "--json",
      "--",
      ...command,
    );
    expect(code).toBe(0);
    expect(linesOf(out).at(-1).failures).toMatchObject([{ rank: 1, host: "workers[0]", exitCode: 3 }]);
    const again = linesOf(out).filter(({ line }) => line?.endsWith("again"));
    expect(again.map(({ rank }) => rank).sort()).toEqual([0, 1, 2, 3]);
    for (const pid of (await noted(file, 8)).slice(0, 4)) expect(gone(pid)).toBe(true);
  });

  test("start again when a host that was lost has come back", async () => {
    const file = newFile();
    const script = `echo "$RANK $$" >> ${file}; test -e ${file}.again || exec sleep 600`;
    const restart = ["--max-restarts", "1", "--json"];
    const started = startViceroyJob(newPlace(lab), "spmd", ...restart, "--", "sh", "-c", script);
    const pids = await noted(file, 2);
    appendFileSync(`${file}.again`, "");
    const [daemon] = running(/^\S*node \S+viceroy\.js host /, lab.cluster.nodes["n2"]!.machine.pids);
    process.kill(daemon!, "SIGKILL");
    const { code, out } = await started.ended;
    expect(linesOf(out).at(-1)).toMatchObject({ exitCode: 0, failures: [{ rank: 1, host: "workers[1]" }] });
    expect(code).toBe(0);
    for (const pid of pids) expect(gone(pid)).toBe(true);
    expect(await noted(file, 4)).toHaveLength(4);
  });
});
