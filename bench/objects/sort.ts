/**
 * Sorts lines of 100 bytes in a control group with less memory, in pairs with `sort` of coreutils, which gets the same memory and as many
 * threads as there are processors. Both write their rest to the same disk. Run it as root with
 * `npm run bench:sort -- [rounds] [size] [limit] [memory]`, by default 3 rounds of 8 GB in 2 GiB, of which sorting may use 1.5 GiB; the
 * folder of temporary files needs four times the size. `dist/` must be built, and the addon set up.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { bytesOf } from "../../examples/external-sort/src/sizes.js";
import { median } from "../harness/shaped-machines.js";

const [rounds = "3", size = "8GB", limit = "2GiB", memory = "1.5GiB"] = process.argv.slice(2);
const example = (file: string) => fileURLToPath(new URL(`../../examples/external-sort/src/${file}`, import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), "viceroy-sort-"));
const [input, ours, theirs] = ["lines", "viceroy", "coreutils"].map((name) => path.join(folder, name)) as [
  string,
  string,
  string,
];

/** A control group of version 1 or 2 that limits memory. */
const isUnified =
  spawnSync("stat", ["-fc", "%T", "/sys/fs/cgroup"], { encoding: "utf8" }).stdout.trim() === "cgroup2fs";
const group = path.join("/sys/fs/cgroup", isUnified ? "" : "memory", path.basename(folder));

function makeGroup(): void {
  mkdirSync(group);
  writeFileSync(path.join(group, isUnified ? "memory.max" : "memory.limit_in_bytes"), `${bytesOf(limit)}`);
}

/** Runs a program in the group. Returns the seconds that it has taken. */
async function run(program: string, ...args: string[]): Promise<number> {
  const script = `echo $$ > ${group}/cgroup.procs && exec "$@"`;
  const env = { ...process.env, LC_ALL: "C", TMPDIR: folder };
  const begun = performance.now();
  const child = spawn("sh", ["-c", script, "sh", program, ...args], { stdio: "inherit", env });
  const code = await new Promise((resolve) => child.once("exit", resolve));
  if (code !== 0) throw new Error(`${program} has ended with ${code}`);
  return (performance.now() - begun) / 1000;
}

const tsx = (file: string, ...args: string[]) => run(process.execPath, "--import", "tsx", example(file), ...args);
const subjects = {
  viceroy: () => tsx("main.ts", input, ours, "--memory", memory, "--folder", folder),
  coreutils: () => {
    const parallel = `--parallel=${availableParallelism()}`;
    return run("sort", "-S", `${bytesOf(memory)}b`, parallel, "-T", folder, "-o", theirs, input);
  },
};

makeGroup();
try {
  await tsx("make-lines.ts", input, size);
  const seconds: Record<keyof typeof subjects, number[]> = { viceroy: [], coreutils: [] };
  for (let round = 0; round < Number(rounds); round++) {
    const order: (keyof typeof subjects)[] = ["viceroy", "coreutils"];
    for (const name of round % 2 === 0 ? order : order.reverse()) {
      spawnSync("sync");
      seconds[name].push(await subjects[name]());
      console.error(`round ${round + 1}/${rounds}  ${name} ${seconds[name].at(-1)!.toFixed(1)} s`);
    }
    if (spawnSync("cmp", [ours, theirs], { stdio: "inherit" }).status !== 0) throw new Error("the outputs differ");
    for (const file of [ours, theirs]) rmSync(file);
  }
  const ratios = seconds.viceroy.map((own, i) => seconds.coreutils[i]! / own);
  const range = `${Math.min(...ratios).toFixed(2)}-${Math.max(...ratios).toFixed(2)}`;
  console.log(
    `${size} in ${limit}: Viceroy ${median(seconds.viceroy).toFixed(1)} s, sort of coreutils ${median(seconds.coreutils).toFixed(1)} s; ` +
      `throughput of Viceroy / that of sort: ${median(ratios).toFixed(2)} (${range})`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
  rmdirSync(group);
}
