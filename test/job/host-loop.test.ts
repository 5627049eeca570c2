/** Tests of the shell that runs beside the daemon of a node of Slurm: a real shell, with programs in the places of `node` and `sleep`. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { hostCheck } from "../../runtime/job/slurm/host-check.js";

interface Loop {
  readonly status: number | null;
  readonly stderr: string;
  /** The mark and the arguments with which each daemon was started. */
  readonly starts: readonly string[];
  /** The pauses between the starts, in seconds. */
  readonly pauses: readonly string[];
  readonly incarnation: string;
  readonly hasKey: boolean;
}

/**
 * Runs the shell with a daemon that does not live long.
 * @param daemon lines of the shell; `$count` is the number of the start
 * @param first the first incarnation; empty if the daemon is not started again
 */
function runLoop(daemon: string, first = "0"): Loop {
  const folder = mkdtempSync(join(tmpdir(), "vl-"));
  mkdirSync(join(folder, "hosts"));
  writeFileSync(join(folder, "key-2"), "a key");
  const program = (name: string, ...lines: string[]) => {
    const file = join(folder, name);
    writeFileSync(file, ["#!/bin/sh", ...lines, ""].join("\n"), { mode: 0o755 });
    return file;
  };
  const starts = join(folder, "starts");
  const pauses = join(folder, "pauses");
  const node = program(
    "node",
    'if [ "$1" = --version ]; then echo v24.0.0; exit; fi',
    `echo "$VICEROY_JOB_HOST $*" >> ${starts}`,
    `count=$(wc -l < ${starts})`,
    daemon,
  );
  program("sleep", `echo "$1" >> ${pauses}`);
  const args = [folder, first, "viceroy://job/hosts/workers/", join(folder, "key-"), node, folder, "host"];
  const variables = { VICEROY_JOB: "job", VICEROY_JOB_MESH: "workers", SLURM_PROCID: "2", SLURMD_NODENAME: "n3" };
  const env = { PATH: `${folder}:${process.env["PATH"]}`, ...variables };
  const { status, stderr } = spawnSync("/bin/sh", ["-c", hostCheck, "sh", ...args], { env, encoding: "utf8" });
  const linesOf = (file: string) => (existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : []);
  return {
    status,
    stderr,
    starts: linesOf(starts).map((line) => line.replace(` ${folder} host`, "")),
    pauses: linesOf(pauses),
    incarnation: linesOf(join(folder, "hosts/workers-2")).join(),
    hasKey: existsSync(join(folder, "key-2")),
  };
}

const identity = "--identity viceroy://job/hosts/workers/2";

test("a daemon that is killed again and again is given up, with the signal in its exit code", () => {
  const { status, stderr, starts, pauses, incarnation } = runLoop("kill -KILL $$", "3000000");
  expect(starts).toEqual([0, 1, 2, 3, 4, 5].map((n) => `job/workers/2/${3_000_000 + n} ${identity}`));
  expect(pauses).toEqual(["0.25", "1.25", "4.25", "9.25", "16.25"]);
  expect(incarnation).toBe("3000005");
  expect(status).toBe(137);
  expect(stderr.match(/viceroy host: .*/g)).toEqual([
    ...Array(5).fill("viceroy host: was ended by signal 9, and is started again"),
    "viceroy host: was ended by signal 9, 6 times within 60 s of a start, and is not started again",
  ]);
});

test("what a killed daemon has left is killed before the next one starts, which enrols with a new key", () => {
  const left = "env -i VICEROY_JOB_HOST=$VICEROY_JOB_HOST /bin/sleep 20 & echo $! >> pids";
  // A process that nobody has waited for yet is a zombie.
  const check = 'if grep -q "^State:.[^Z]" "/proc/$(cat pids)/status" 2> /dev/null; then exit 4; fi; exit 0';
  const { status, starts, hasKey } = runLoop(
    `cd "$(dirname "$0")"; if [ "$count" = 1 ]; then ${left}; kill -KILL $$; fi; ${check}`,
  );
  expect([status, starts.length, hasKey]).toEqual([0, 2, false]);
});

test.each([0, 3])("a daemon that ends by itself with exit code %d is not started again", (code) => {
  const { status, starts, hasKey } = runLoop(`exit ${code}`);
  expect([status, starts.length, hasKey]).toEqual([code, 1, true]);
});

test("a daemon that is not to come back is not started again", () => {
  const { status, starts } = runLoop("kill -KILL $$", "");
  expect(starts).toEqual([` ${identity}`]);
  expect(status).toBe(null);
});

test("a daemon that is asked to end, as its job is, ends in order and is not started again", () => {
  // Slurm sends the signal to all processes of a step: to the shell, and to the daemon.
  const { status, starts } = runLoop('kill -TERM "$PPID"; kill -KILL $$');
  expect([status, starts.length]).toEqual([137, 1]);
});
