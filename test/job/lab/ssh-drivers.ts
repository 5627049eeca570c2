/** Programs with jobs over ssh on the driver's machine of a network, and the processes that they start anywhere. */
import { appendFileSync, readFileSync } from "node:fs";
import { until } from "../../proc/until.js";
import { type DriverEnd, type JobDriver, startJobDriver } from "../job-driver.js";
import { newCache } from "../job-program.js";
import type { SshNetwork } from "./ssh-network.js";

export class SshDrivers {
  readonly #network: SshNetwork;
  readonly #env: Readonly<Record<string, string>>;
  readonly #drivers: JobDriver[] = [];

  /** @param env further environment variables of the programs */
  constructor(network: SshNetwork, env: Readonly<Record<string, string>> = {}) {
    this.#network = network;
    this.#env = env;
  }

  start(options: object = {}, how: DriverEnd = "kill", ...further: string[]): JobDriver {
    return this.startProgram("on-ssh.ts", options, how, ...further);
  }

  /** Starts another program with a job. */
  startProgram(program: string, options: object = {}, how: DriverEnd = "kill", ...further: string[]): JobDriver {
    const { through } = this.#network;
    const env = { ...this.#network.env, ...this.#env };
    const driver = startJobDriver(through, program, { cache: newCache(), ...options }, how, env, ...further);
    this.#drivers.push(driver);
    return driver;
  }

  /** Returns the error of a job with these hosts, which does not start. */
  async complaint(hosts: readonly string[], options: object = {}): Promise<string> {
    const driver = this.start({ meshes: { workers: { hosts } }, ...options });
    const { name, message } = await driver.outcome();
    await driver.exited;
    return `${name}: ${message}`;
  }

  /** Ends what runs, and resolves when no machine has a process but its server of ssh. */
  async end(): Promise<void> {
    for (const { child } of this.#drivers.splice(0)) child.kill("SIGKILL");
    for (const pid of running(/job-keeper/, this.onDriver())) process.kill(pid, "SIGTERM");
    await until(() => this.processesOn(...Object.keys(this.#network.machines)).length === 0);
  }

  onDriver(): number[] {
    return this.#network.driver.machine.pids;
  }

  /** Returns the processes on machines other than their servers of ssh. */
  processesOn(...names: string[]): number[] {
    return names.flatMap((name) => {
      const { cluster, server } = this.#network.machines[name]!;
      return cluster.machine.pids.filter((pid) => pid !== server);
    });
  }

  /** Describes a name in the driver's configuration of ssh. */
  configure(name: string, ...lines: readonly string[]): void {
    appendFileSync(this.#network.config, `Host ${name}\n${lines.map((line) => `  ${line}\n`).join("")}`);
  }
}

/** Returns the processes of a program, among given ones. */
export function running(program: RegExp, pids: readonly number[]): number[] {
  return pids.filter((pid) => program.test(commandOf(pid)));
}

/** Returns the command line of a process; nothing if it has ended. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ");
  } catch {
    return "";
  }
}
