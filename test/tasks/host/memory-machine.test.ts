/** Runs the tests of limits of memory in a virtual machine, in a control group of version 2 that is given to the program. */
import { describe, expect, test } from "vitest";
import { boot, bootLimit, boots } from "../../rdma/machine/machine.js";
import { machineParts } from "../../rdma/machine/parts.js";
import { suite } from "../../rdma/machine/suite.js";
import type { Outcome } from "../../rdma/machine/vitest.js";

const parts = machineParts();
/** Time limit in ms. Machines are emulated, and other tests run, too. */
const timeLimit = 300_000;

describe.skipIf(parts === undefined)("in a virtual machine", { timeout: timeLimit + boots * bootLimit }, () => {
  test("control groups of version 2 limit memory", async () => {
    const program = await suite("memory", ["../tasks/host/memory-guard.test.ts"]);
    const command = [
      "mount -t cgroup2 none /sys/fs/cgroup",
      "echo +memory >/sys/fs/cgroup/cgroup.subtree_control",
      "mkdir /sys/fs/cgroup/job",
      "echo $$ >/sys/fs/cgroup/job/cgroup.procs",
      `exec node ${program}`,
    ].join(" && ");
    const machine = await boot(parts!, { command, rdma: "wire", timeLimit });
    const { code, stdout, stderr } = await machine.end;
    const outcomes = stdout
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as Outcome);
    expect(outcomes.filter(({ error }) => error !== undefined)).toEqual([]);
    expect([code, stderr]).toEqual([0, stderr]);
    expect(outcomes.map(({ test }) => test.split(" > ")[0])).toContain(
      "control groups (if this process may create some)",
    );
    expect(outcomes).toHaveLength(6);
  });
});
