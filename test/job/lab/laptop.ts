/**
 * A laptop of a user of a cluster of Slurm: a machine whose network leads to the login node and nowhere else. The login node has two servers of
 * ssh: one at port 22, and one at port 2222 that forwards no connections, which the laptop knows as `closed`.
 */
import { appendFileSync, copyFileSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Machine } from "../../faults/network.js";
import { peer } from "../../peers.js";
import { until } from "../../proc/until.js";
import type { SlurmCluster } from "./slurm-cluster.js";
import { running } from "./ssh-drivers.js";
import { entering, listensAt, makeHome, makeKey, startSshServer, writeConfig } from "./ssh-server.js";

const closedPort = 2222;

export class Laptop {
  /** The command prefix that runs a program on the laptop. */
  readonly through: readonly string[];
  /** The environment of programs there: they find `ssh`, and none of the programs of Slurm. */
  readonly env: NodeJS.ProcessEnv;
  readonly machine: Machine;
  readonly #cluster: SlurmCluster;

  /** @param cluster has the further machine `laptop` */
  constructor(cluster: SlurmCluster) {
    this.#cluster = cluster;
    const folder = mkdtempSync(join(tmpdir(), "vl-"));
    const { laptop } = cluster.others;
    this.machine = laptop!.machine;
    const home = makeHome(folder, "laptop");
    this.through = entering(folder, laptop!, home, {});
    this.env = { ...process.env, HOME: home, PATH: `${dirname(peer("ssh")!)}:${process.env["PATH"]}` };
    const [own, host] = [makeKey(folder, "user"), makeKey(folder, "host")];
    const config = writeConfig(home, own);
    appendFileSync(
      config,
      [
        `Host closed\n  HostName login\n  Port ${closedPort}\n  HostKeyAlias login`,
        "Host away\n  HostName login\n  Port 1",
        "",
      ].join("\n"),
    );
    const { ip } = cluster.login.machine;
    writeFileSync(join(home, ".ssh/known_hosts"), `login,${ip} ${readFileSync(`${host}.pub`, "utf8").trim()}\n`);
    const loginHome = makeHome(folder, "login");
    copyFileSync(`${own}.pub`, join(loginHome, ".ssh/authorized_keys"));
    const { PATH, SLURM_CONF, LD_LIBRARY_PATH } = cluster.env;
    const environment = `SetEnv "PATH=${PATH}" "SLURM_CONF=${SLURM_CONF}" "LD_LIBRARY_PATH=${LD_LIBRARY_PATH}"`;
    const server = { key: host, through: entering(folder, cluster.login, loginHome, {}) };
    startSshServer(folder, { ...server, name: "login", sshd: [environment] });
    const closed = [environment, `Port ${closedPort}`, "AllowTcpForwarding no"];
    startSshServer(folder, { ...server, name: "closed", sshd: closed });
  }

  /** Resolves when the login node can be reached. */
  async ready(): Promise<void> {
    await until(() => [22, closedPort].every((port) => listensAt(this.#cluster.login, port)));
    this.connect();
  }

  /** Lets the network lead to the login node again, and nowhere else. */
  connect(): void {
    this.machine.heal();
    this.machine.reachOnly(this.#cluster.login.machine);
  }

  /** Refuses further connections to the login node. */
  disconnect(): void {
    this.machine.heal();
    this.machine.rejectTo(this.#cluster.login.machine);
  }

  /** Returns the processes of ssh that forward a connection. */
  forwards(): number[] {
    return running(/\bssh .* -W /, this.machine.pids);
  }
}
