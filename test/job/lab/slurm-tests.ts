/** Tests with a real cluster of Slurm. `verify:full` runs them with a second release. */
import { afterEach, beforeAll, describe } from "vitest";
import { networks } from "../../faults/network.js";
import { permitted } from "../../permitted.js";
import { compileCrew } from "../../proc/crew.js";
import { until } from "../../proc/until.js";
import { type DriverEnd, type JobDriver, startJobDriver } from "../job-driver.js";
import { newCache } from "../job-program.js";
import { type SlurmCluster, withCluster } from "./slurm-cluster.js";
import { findSlurm, type SlurmRelease } from "./slurm-release.js";

/** A cluster, and the programs that use jobs on it. */
export class SlurmLab {
  readonly version: SlurmRelease["version"];
  /** The cluster, which is there while tests run. */
  cluster!: SlurmCluster;
  readonly #drivers: JobDriver[] = [];

  constructor(version: SlurmRelease["version"]) {
    this.version = version;
  }

  /** Starts a program on the login machine. @param options the options of the job */
  startDriver(
    options: object,
    how: DriverEnd = "kill",
    env: NodeJS.ProcessEnv = this.cluster.env,
    program = "on-slurm.ts",
  ): JobDriver {
    const wanted = { cache: newCache(), ...options };
    const driver = startJobDriver(this.cluster.login.through, program, wanted, how, env);
    this.#drivers.push(driver);
    return driver;
  }

  /** Returns the ids of the jobs that have not ended. */
  living(): string[] {
    return this.cluster
      .run("squeue", "--noheader", "--format=%i")
      .split("\n")
      .filter((line) => line !== "");
  }

  /** Returns the state of a job. */
  state(id: string): string {
    return this.cluster.run("squeue", "--noheader", `--jobs=${id}`, "--states=all", "--format=%T").trim();
  }

  /** Returns what Slurm says about a job, by the names of its fields. */
  show(id: string): Record<string, string> {
    const words = this.cluster.run("scontrol", "show", "job", id, "--oneliner").trim().split(" ");
    return Object.fromEntries(words.map((word) => /^([^=]*)=(.*)$/.exec(word)?.slice(1) ?? [word, ""]));
  }

  /** Submits a job of somebody else. */
  occupy(...args: string[]): string {
    return this.cluster.run("sbatch", "--parsable", "--output=/dev/null", ...args, "--wrap=sleep 600").trim();
  }

  /** Submits a job of somebody else, and waits until it runs. */
  async occupyNow(...args: string[]): Promise<string> {
    const id = this.occupy(...args);
    await until(() => this.state(id) === "RUNNING");
    return id;
  }

  /** Ends all programs and jobs. */
  async clear(): Promise<void> {
    for (const { child } of this.#drivers.splice(0)) child.kill("SIGKILL");
    this.cluster.run("scancel", "--user=root");
    await until(() => this.living().length === 0);
  }
}

const versions: readonly SlurmRelease["version"][] =
  process.env["VICEROY_TEST_PROFILE"] === "long" ? ["22.05", "24.11"] : ["22.05"];

/** Runs tests on a cluster of three nodes, with each release of Slurm. */
export function onSlurm(title: string, tests: (lab: SlurmLab) => void): void {
  for (const version of versions) {
    const release = findSlurm(version);
    const needs = `Slurm ${version} of Debian, which .ci/slurm.mjs and .ci/peers.mjs unpack`;
    const possible = permitted(`jobs on a cluster of Slurm ${version}`, needs, release !== undefined) && networks;
    describe.runIf(possible)(`${title} (Slurm ${version})`, () => {
      const lab = new SlurmLab(version);
      withCluster({ release }, (cluster) => {
        lab.cluster = cluster;
      });
      beforeAll(() => compileCrew());
      afterEach(() => lab.clear());
      tests(lab);
    });
  }
}
