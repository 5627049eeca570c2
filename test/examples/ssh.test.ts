/** Tests of the example `ssh`: on this machine, and on machines with real servers of ssh. */
import { spawnSync } from "node:child_process";
import { beforeAll, describe, expect, test } from "vitest";
import { networks } from "../faults/network.js";
import { hasSsh, SshNetwork } from "../job/lab/ssh-network.js";
import { permitted } from "../permitted.js";
import { outputOf } from "./markdown.js";
import { expectOutput, root, runExample } from "./program.js";

const ssh = permitted("the example ssh on machines", "Debian's packages openssh-server and openssh-client", hasSsh);
const network = networks && ssh ? new SshNetwork({ n1: {}, n2: {} }) : (undefined as unknown as SshNetwork);

const outputOn = (first: string, second: string) => `
host 0, worker 0: 4512 primes on ${first}
host 0, worker 1: 4525 primes on ${first}
host 1, worker 0: 4455 primes on ${second}
host 1, worker 1: 4492 primes on ${second}
17984 primes below 200000`;

test("ssh: with --local, the hosts are processes on this machine", async () => {
  const { code, stdout, stderr } = await runExample("ssh", ["--local"]);
  expect(stderr).toMatch(/^(?:viceroy job viceroy: hosts up \d\/2\n)+$/);
  expect(code).toBe(0);
  const machine = spawnSync("hostname", { encoding: "utf8" }).stdout.trim();
  expectOutput(stdout, outputOn(machine, machine));
});

describe.runIf(networks && ssh)("ssh: on machines", () => {
  beforeAll(() => network.listening());

  test("each process says on which machine it runs", () => {
    const [file, ...through] = network.through;
    const program = [process.execPath, "--import", "tsx", `${root}examples/ssh/src/main.ts`, "n1", "n2"];
    const { status, stdout, stderr } = spawnSync(file!, [...through, ...program], {
      cwd: root,
      encoding: "utf8",
      env: network.env,
    });
    expect({ status, stderr: stderr.split("\n").at(-2) }).toEqual({
      status: 0,
      stderr: "viceroy job viceroy: hosts up 2/2",
    });
    expectOutput(stdout, outputOn("n1", "n2"));
  });
});

test("ssh: a program without hosts says what to do", async () => {
  const { code, stderr } = await runExample("ssh");
  expect(stderr).toContain("cannot search: name the hosts, as ssh knows them, or use --local");
  expect(code).toBe(1);
});

test("ssh: the documentation page shows the expected output", () => {
  expectOutput(outputOf("docs/examples/ssh.md"), outputOn("n1", "n2"));
});
