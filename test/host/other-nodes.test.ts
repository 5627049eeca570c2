/** Tests of hosts whose Node.js is of another version than that of the driver. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { nodeOf } from "../bundlers/tools.js";
import { compileCrew, project } from "../proc/crew.js";

const installed = (["20", "22", "24"] as const).flatMap((version) => nodeOf(version) ?? []);
const versionOf = (node: string) => spawnSync(node, ["--version"], { encoding: "utf8" }).stdout.trim().slice(1);

/** All pairs of different versions, with the one that runs the tests. */
const nodes = [process.execPath, ...installed].filter(
  (node, index, all) => all.findIndex((other) => versionOf(other) === versionOf(node)) === index,
);
const pairs = nodes.flatMap((driver) => nodes.filter((host) => host !== driver).map((host) => ({ driver, host })));
const named = pairs.map((pair) => ({ ...pair, name: `${versionOf(pair.driver)} on ${versionOf(pair.host)}` }));

interface Report {
  /** The executables of the processes on the host. */
  readonly programs: readonly string[];
  readonly error: string;
  readonly stderr: string;
}

/** Runs a program with a job whose hosts have another Node.js. @param flags options of the driver's Node.js */
function run(driver: string, host: string, flags: readonly string[] = []): Report {
  const cache = join(mkdtempSync(join(tmpdir(), "vc-")), "job.json");
  const args = [...flags, "--import", "tsx", "programs/on-other-node.ts", cache, host];
  const { stdout, stderr } = spawnSync(driver, args, { cwd: project, encoding: "utf8" });
  if (stdout === "") throw new Error(stderr);
  return { ...(JSON.parse(stdout) as Omit<Report, "stderr">), stderr };
}

describe.runIf(named.length > 0)("the Node.js of a host may be another one than that of the driver", () => {
  beforeAll(compileCrew);

  test.each(named)("$name: actors run, and an unknown option is an error with its name", ({ driver, host }) => {
    const { programs, error, stderr } = run(driver, host);
    expect(programs).toEqual([realpathSync(host)]);
    expect(error).toMatch(
      new RegExp(
        `^mesh "odd" is not ready: rank 0: process \\d+ exited with code 9: Node\\.js ${versionOf(host)} does not know the ` +
          "option --no-such-option \\(execArgv\\) on host unix:",
      ),
    );
    expect(stderr).not.toContain("ViceroyNodeVersion");
  });

  test("a driver with options that not all versions know is told so when it attaches another version", () => {
    const major = (node: string) => versionOf(node).split(".", 1)[0];
    const { driver, host } = named.find((pair) => major(pair.driver) !== major(pair.host))!;
    const { stderr, programs } = run(driver, host, ["--no-deprecation"]);
    expect(programs).toEqual([realpathSync(host)]);
    expect(stderr).toMatch(
      new RegExp(
        `ViceroyNodeVersion: host unix:\\S+ has Node\\.js ${versionOf(host)}, and this process ${versionOf(driver)}: processes ` +
          "there get the options of this process, --no-deprecation; if that version does not know them, pass others with " +
          "the option execArgv",
      ),
    );
  });
});
