/**
 * A real cluster of Slurm without systemd: munged and slurmctld on the machine `login`, one slurmd on each node. The nodes
 * have two GPUs each, which are no real ones.
 */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { gone, until } from "../../proc/until.js";
import { type ClusterMachine, makeMachines, runOn } from "./cluster-machines.js";
import type { SlurmRelease } from "./slurm-release.js";
import { slurmSettings } from "./slurm-settings.js";

export interface ClusterOptions {
  readonly release: SlurmRelease;
  readonly nodes: number;
  /** The names of further machines in its network, which are no nodes. Default: none. */
  readonly others?: readonly string[];
  /** Calls a function when the cluster is not needed any more. */
  readonly atEnd: (end: () => void) => void;
}

export class SlurmCluster {
  readonly login: ClusterMachine;
  readonly nodes: Readonly<Record<string, ClusterMachine>>;
  readonly others: Readonly<Record<string, ClusterMachine>>;
  /** The environment in which the commands of Slurm work. */
  readonly env: NodeJS.ProcessEnv;
  readonly #release: SlurmRelease;
  readonly #folder: string;
  readonly #configuration: string;

  /** Starts a cluster. */
  constructor({ release, nodes: count, others = [], atEnd }: ClusterOptions) {
    this.#release = release;
    const names = Array.from({ length: count }, (_, index) => `n${index + 1}`);
    const made = makeMachines(["login", ...names, ...others], atEnd);
    this.others = Object.fromEntries(others.map((name) => [name, made[name]!]));
    const machines = ["login", ...names].map((name) => {
      const { machine, through } = made[name]!;
      return [name, { machine, through: [...through, ...release.inside] }] as const;
    });
    const { login, ...nodes } = Object.fromEntries(machines);
    this.login = login!;
    this.nodes = nodes;
    this.#folder = mkdtempSync(join(tmpdir(), "vs-"));
    chmodSync(this.#folder, 0o755);
    for (const name of ["munge", "socket", "state", "spool", "log", "gpus", "programs"])
      mkdirSync(join(this.#folder, name), { mode: 0o755 });
    chmodSync(join(this.#folder, "munge"), 0o700);
    // Debian's files are called slurmd-wlm and so on. Slurm ignores the GPUs of nodes unless its programs have their own names.
    for (const name of ["slurmctld", "slurmd", "slurmstepd"])
      symlinkSync(join(release.usr, `sbin/${name}-wlm`), this.#program(name));
    this.#configuration = join(this.#folder, "slurm.conf");
    this.env = {
      ...process.env,
      ...release.env,
      PATH: [join(release.usr, "bin"), join(release.usr, "sbin"), process.env["PATH"]].join(delimiter),
      SLURM_CONF: this.#configuration,
    };
    this.#writeSettings();
    this.#startMunge();
    this.startController();
    for (const name of names) this.startNode(name);
    atEnd(() => this.#stop());
  }

  startController(): void {
    runOn(this.login, [this.#program("slurmctld"), "-f", this.#configuration], this.env);
  }

  /** Ends the controller, which stores the jobs first. */
  async stopController(): Promise<void> {
    const pid = this.#pid("slurmctld.pid")!;
    process.kill(pid, "SIGTERM");
    await until(() => gone(pid));
  }

  /** Starts the daemon of a node. @param hidden a folder that the node does not see */
  startNode(name: string, hidden?: string): void {
    const daemon = ["-N", name, "-f", this.#configuration, "-d", this.#program("slurmstepd")];
    const hide = 'mount -t tmpfs none "$1" && shift && exec "$@"';
    const prefix = hidden === undefined ? [] : ["sh", "-c", hide, "sh", hidden];
    runOn(this.nodes[name]!, [...prefix, this.#program("slurmd"), ...daemon], this.env);
  }

  /** Ends a node at once, with everything that runs on it. */
  async killNode(name: string): Promise<void> {
    const { pids } = this.nodes[name]!.machine;
    for (const pid of pids) process.kill(pid, "SIGKILL");
    await until(() => pids.every(gone));
  }

  /** Takes back that a node is down or drained. Slurm refuses that if the node can be used already. */
  async resumeNode(name: string): Promise<void> {
    const isOut = () => /down|drain/.test(this.run("sinfo", "--noheader", "--nodes", name, "--format", "%T"));
    await until(() => {
      if (!isOut()) return true;
      try {
        this.run("scontrol", "update", `NodeName=${name}`, "State=RESUME");
      } catch (error) {
        if (isOut()) throw error;
      }
      return !isOut();
    });
  }

  /** Runs a command of Slurm on the login machine. */
  run(...command: string[]): string {
    return runOn(this.login, command, this.env);
  }

  #program(name: string): string {
    return join(this.#folder, "programs", name);
  }

  #startMunge(): void {
    const key = join(this.#folder, "munge/key");
    writeFileSync(key, randomBytes(1024), { mode: 0o400 });
    const files = [
      `--key-file=${key}`,
      `--socket=${this.#socket}`,
      `--pid-file=${join(this.#folder, "munge/pid")}`,
      `--log-file=${join(this.#folder, "munge/log")}`,
      `--seed-file=${join(this.#folder, "munge/seed")}`,
    ];
    runOn(this.login, [join(this.#release.usr, "sbin/munged"), ...files, "--force"], this.env);
  }

  get #socket(): string {
    return join(this.#folder, "socket/munge");
  }

  #writeSettings(): void {
    const folder = this.#folder;
    const addresses = Object.entries(this.nodes).map(([name, { machine }]) => ({ name, ip: machine.ip }));
    const settings = slurmSettings(folder, { login: this.login.machine.ip, socket: this.#socket, nodes: addresses });
    writeFileSync(this.#configuration, [...settings, ...this.#release.settings, ""].join("\n"));
    writeFileSync(join(folder, "cgroup.conf"), this.#release.cgroups);
    // Slurm tells jobs the numbers of devices only if they are devices. These are like /dev/null.
    for (const index of [0, 1]) execFileSync("mknod", [join(folder, `gpus/nvidia${index}`), "c", "1", "3"]);
    writeFileSync(join(folder, "gres.conf"), `AutoDetect=off\nName=gpu File=${folder}/gpus/nvidia[0-1]\n`);
  }

  #pid(file: string): number | undefined {
    const path = join(this.#folder, file);
    return existsSync(path) ? Number(readFileSync(path, "utf8")) : undefined;
  }

  #stop(): void {
    const files = ["munge/pid", "slurmctld.pid", ...Object.keys(this.nodes).map((name) => `slurmd-${name}.pid`)];
    for (const pid of files.map((file) => this.#pid(file)).filter((found) => found !== undefined)) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended already.
      }
    }
  }
}

type WithCluster = { readonly release: SlurmRelease | undefined } & Partial<Pick<ClusterOptions, "nodes" | "others">>;

/**
 * Starts a cluster before the first test of a block, and ends it after the last one. Nothing is started, and nothing is left, if all
 * tests of the block are skipped.
 * @param use gets the cluster
 */
export function withCluster(
  { release, nodes = 3, others = [] }: WithCluster,
  use: (cluster: SlurmCluster) => void,
): void {
  const ends: (() => void)[] = [];
  beforeAll(() => {
    use(new SlurmCluster({ release: release!, nodes, others, atEnd: (end) => ends.push(end) }));
  }, 60_000);
  afterAll(() => {
    for (const end of ends.reverse()) end();
  });
}
