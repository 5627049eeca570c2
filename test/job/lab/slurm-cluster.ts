/**
 * A real cluster of Slurm without systemd: munged and slurmctld on the machine `login`, one slurmd on each node. The
 * programs come from Debian's packages (`.ci/peers.mjs` unpacks them).
 */
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll } from "vitest";
import { unpackedPeers } from "../../peers.js";
import { gone, until } from "../../proc/until.js";
import { type ClusterMachine, makeMachines, runOn } from "./cluster-machines.js";

const usr = join(unpackedPeers, "usr");
const libraries = join(usr, "lib/x86_64-linux-gnu");
const plugins = join(libraries, "slurm-wlm");

/** Whether the programs of Slurm are there. */
export const hasSlurm = existsSync(join(usr, "sbin/slurmctld-wlm"));

export class SlurmCluster {
  readonly login: ClusterMachine;
  readonly nodes: Readonly<Record<string, ClusterMachine>>;
  /** The environment in which the commands of Slurm work. */
  readonly env: NodeJS.ProcessEnv;
  readonly #folder: string;
  readonly #configuration: string;

  /** Starts a cluster, which ends with the tests of this file. */
  constructor(nodeCount: number) {
    const names = Array.from({ length: nodeCount }, (_, index) => `n${index + 1}`);
    const { login, ...nodes } = makeMachines(["login", ...names]);
    this.login = login!;
    this.nodes = nodes;
    this.#folder = mkdtempSync(join(tmpdir(), "vs-"));
    chmodSync(this.#folder, 0o755);
    for (const name of ["munge", "socket", "state", "spool", "log"])
      mkdirSync(join(this.#folder, name), { mode: 0o755 });
    chmodSync(join(this.#folder, "munge"), 0o700);
    this.#configuration = join(this.#folder, "slurm.conf");
    this.env = {
      ...process.env,
      PATH: [join(usr, "bin"), join(usr, "sbin"), process.env["PATH"]].join(delimiter),
      LD_LIBRARY_PATH: [plugins, libraries].join(delimiter),
      SLURM_CONF: this.#configuration,
    };
    writeFileSync(this.#configuration, this.#settings(names));
    writeFileSync(join(this.#folder, "cgroup.conf"), "CgroupPlugin=cgroup/v1\n");
    this.#startMunge();
    this.startController();
    for (const name of names) this.startNode(name);
    afterAll(() => this.#stop());
  }

  startController(): void {
    runOn(this.login, [join(usr, "sbin/slurmctld-wlm"), "-f", this.#configuration], this.env);
  }

  /** Ends the controller, which stores the jobs first. */
  async stopController(): Promise<void> {
    const pid = Number(readFileSync(join(this.#folder, "slurmctld.pid"), "utf8"));
    process.kill(pid, "SIGTERM");
    await until(() => gone(pid));
  }

  startNode(name: string): void {
    const stepDaemon = join(usr, "sbin/slurmstepd-wlm");
    const command = [join(usr, "sbin/slurmd-wlm"), "-N", name, "-f", this.#configuration, "-d", stepDaemon];
    runOn(this.nodes[name]!, command, this.env);
  }

  /** Runs a command of Slurm on the login machine. */
  run(...command: string[]): string {
    return runOn(this.login, command, this.env);
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
    runOn(this.login, [join(usr, "sbin/munged"), ...files, "--force"], this.env);
  }

  get #socket(): string {
    return join(this.#folder, "socket/munge");
  }

  #settings(names: readonly string[]): string {
    const folder = this.#folder;
    const nodes = names.map((name) => {
      const { ip } = this.nodes[name]!.machine;
      return `NodeName=${name} NodeAddr=${ip} NodeHostname=${name} Port=16818 CPUs=4 RealMemory=4096 State=UNKNOWN`;
    });
    return [
      "ClusterName=viceroy",
      `SlurmctldHost=login(${this.login.machine.ip})`,
      "SlurmUser=root",
      "SlurmdUser=root",
      "AuthType=auth/munge",
      `AuthInfo=socket=${this.#socket}`,
      "CredType=cred/munge",
      "SlurmctldPort=16817",
      `StateSaveLocation=${folder}/state`,
      `SlurmdSpoolDir=${folder}/spool/%n`,
      `SlurmctldPidFile=${folder}/slurmctld.pid`,
      `SlurmdPidFile=${folder}/slurmd-%n.pid`,
      `SlurmctldLogFile=${folder}/log/slurmctld`,
      `SlurmdLogFile=${folder}/log/slurmd-%n`,
      "ProctrackType=proctrack/linuxproc",
      "TaskPlugin=task/none",
      "JobAcctGatherType=jobacct_gather/none",
      "AccountingStorageType=accounting_storage/none",
      "SelectType=select/cons_tres",
      "SelectTypeParameters=CR_CPU_Memory",
      "SchedulerType=sched/backfill",
      // By default, jobs start after seconds.
      "SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=0",
      "SwitchType=switch/none",
      "MpiDefault=none",
      `PluginDir=${plugins}`,
      "ReturnToService=2",
      "SlurmdTimeout=10",
      "KillWait=2",
      "MinJobAge=300",
      "PreemptType=preempt/partition_prio",
      "PreemptMode=REQUEUE",
      "SlurmdParameters=config_overrides",
      "PlugStackConfig=/dev/null",
      ...nodes,
      `PartitionName=main Nodes=${names.join(",")} Default=YES MaxTime=INFINITE State=UP PriorityTier=1`,
      `PartitionName=urgent Nodes=${names.join(",")} MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF`,
      "",
    ].join("\n");
  }

  #stop(): void {
    const pids = ["munge/pid", "slurmctld.pid", ...Object.keys(this.nodes).map((name) => `slurmd-${name}.pid`)];
    for (const name of pids) {
      try {
        process.kill(Number(readFileSync(join(this.#folder, name), "utf8")), "SIGKILL");
      } catch {
        // It has ended, or has never started.
      }
    }
  }
}
