/** A real control plane without systemd: etcd, the API server, the controller manager and the scheduler. */
import { spawnSync } from "node:child_process";
import { generateKeyPairSync, randomBytes, randomInt } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { Authority } from "../../link/transport/tls/certificates.js";
import { until } from "../../proc/until.js";
import type { Ends } from "../lab/ends.js";
import { writeKubeconfig } from "../lab/kubeconfig.js";
import { RunningProgram } from "./programs.js";

export interface ControlPlaneOptions {
  /** The folder of the programs of Kubernetes. */
  readonly programs: string;
  /** An empty folder. */
  readonly folder: string;
  /** The address of the API server. */
  readonly ip: string;
  /** The command prefix of the machine that has the address. */
  readonly through: readonly string[];
  readonly ends: Ends;
}

const services = "10.96.0.0/16";

/** A program that ends with 0 if the URL that is its argument answers with success. It runs on the machine of the API server. */
const askWhetherReady = `fetch(process.argv[1]).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))`;

export class ControlPlane {
  /** The kubeconfig of the administrator. */
  readonly kubeconfig: string;
  readonly authority = new Authority();
  /** The certificate of the server and its key, in PEM, and that of the authority. */
  readonly tls: { readonly cert: string; readonly key: string; readonly ca: string };
  readonly #options: ControlPlaneOptions;
  readonly #ports: {
    readonly etcd: number;
    readonly peers: number;
    readonly api: number;
    readonly manager: number;
    readonly scheduler: number;
  };
  #etcd: RunningProgram | undefined;
  #apiServer: RunningProgram | undefined;

  private constructor(options: ControlPlaneOptions, ports: readonly number[]) {
    this.#options = options;
    const [etcd, peers, api, manager, scheduler] = ports as [number, number, number, number, number];
    this.#ports = { etcd, peers, api, manager, scheduler };
    options.ends.push(() => this.authority.remove());
    mkdirSync(options.folder, { recursive: true });
    const names = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "localhost"].map(
      (name) => `DNS:${name}`,
    );
    const addresses = [options.ip, "127.0.0.1", "10.96.0.1"].map((ip) => `IP:${ip}`);
    const { cert, key, ca } = this.authority.issue("kube-apiserver", 2, [...names, ...addresses].join(","));
    this.tls = { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8"), ca: readFileSync(ca!, "utf8") };
    const token = randomBytes(24).toString("base64url");
    for (const [name, content] of Object.entries(this.tls)) this.#write(`${name}.pem`, content);
    this.#write("tokens.csv", `${token},admin,admin,"system:masters"\n`);
    const pair = generateKeyPairSync("rsa", { modulusLength: 2048 });
    this.#write("accounts.key", pair.privateKey.export({ type: "pkcs1", format: "pem" }));
    this.#write("accounts.pub", pair.publicKey.export({ type: "spki", format: "pem" }));
    this.kubeconfig = path.join(options.folder, "admin.conf");
    writeKubeconfig(this.kubeconfig, { server: this.url, ca: this.tls.ca, token });
  }

  /** Starts all programs. Resolves when the API server answers. */
  static async start(options: ControlPlaneOptions): Promise<ControlPlane> {
    // A machine of its own has all ports; loopback is shared with others.
    const own = options.through.length > 0;
    const plane = new ControlPlane(options, own ? [2379, 2380, 6443, 10257, 10259] : await freePorts(5));
    plane.#startEtcd();
    await plane.startApiServer();
    options.ends.push(() => plane.stopApiServer());
    plane.#startControllers();
    return plane;
  }

  get url(): string {
    return `https://${this.#options.ip}:${this.#ports.api}`;
  }

  async startApiServer(): Promise<void> {
    const { ip, through } = this.#options;
    const files = {
      "tls-cert-file": "cert.pem",
      "tls-private-key-file": "key.pem",
      "service-account-key-file": "accounts.pub",
      "service-account-signing-key-file": "accounts.key",
      "token-auth-file": "tokens.csv",
    };
    const apiServer = this.#start("kube-apiserver", {
      ...files,
      "etcd-servers": `http://127.0.0.1:${this.#ports.etcd}`,
      "bind-address": ip,
      "advertise-address": ip,
      "secure-port": this.#ports.api,
      "service-account-issuer": "https://kubernetes.default.svc",
      "service-cluster-ip-range": services,
      "authorization-mode": "RBAC",
      "allow-privileged": true,
      "kubelet-preferred-address-types": "InternalIP",
      // Pods of a lost node are replaced soon, instead of after 5 minutes.
      "default-not-ready-toleration-seconds": 5,
      "default-unreachable-toleration-seconds": 5,
      // Loopback is no address for the endpoints of a service.
      ...(through.length > 0 ? {} : { "endpoint-reconciler-type": "none" }),
    });
    this.#apiServer = apiServer;
    await until(() => {
      this.#etcd?.check();
      apiServer.check();
      return this.#isReady();
    });
  }

  async stopApiServer(): Promise<void> {
    await this.#apiServer?.stop();
  }

  /** Restarts the API server. It keeps the changes of the time before in its memory alone. */
  async forgetHistory(): Promise<void> {
    await this.stopApiServer();
    await this.startApiServer();
  }

  #startEtcd(): void {
    const [clients, peers] = [this.#ports.etcd, this.#ports.peers].map((port) => `http://127.0.0.1:${port}`);
    const program = this.#start("etcd", {
      "data-dir": "etcd",
      "listen-client-urls": clients!,
      "advertise-client-urls": clients!,
      "listen-peer-urls": peers!,
      "initial-advertise-peer-urls": peers!,
      "initial-cluster": `default=${peers}`,
      "unsafe-no-fsync": true,
    });
    this.#etcd = program;
    this.#options.ends.push(() => program.stop());
  }

  #startControllers(): void {
    const common = { kubeconfig: this.kubeconfig, "leader-elect": false, "bind-address": "127.0.0.1" };
    const manager = this.#start("kube-controller-manager", {
      ...common,
      "secure-port": this.#ports.manager,
      "service-account-private-key-file": "accounts.key",
      "root-ca-file": "ca.pem",
      "use-service-account-credentials": false,
      "node-monitor-grace-period": "24s",
      "kube-api-qps": 200,
      "kube-api-burst": 400,
    });
    const scheduler = this.#start("kube-scheduler", { ...common, "secure-port": this.#ports.scheduler });
    this.#options.ends.push(async () => {
      await manager.stop();
      await scheduler.stop();
    });
  }

  #isReady(): boolean {
    const [file, ...args] = [...this.#options.through, process.execPath, "-e", askWhetherReady];
    const env = { ...process.env, NODE_OPTIONS: "", NODE_EXTRA_CA_CERTS: path.join(this.#options.folder, "ca.pem") };
    return spawnSync(file!, [...args, `${this.url}/readyz`], { env, stdio: "ignore" }).status === 0;
  }

  #start(name: string, flags: Readonly<Record<string, string | number | boolean>>): RunningProgram {
    const { programs, folder, through } = this.#options;
    const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
    return new RunningProgram({ through, command: [path.join(programs, name), ...args], folder, name });
  }

  #write(name: string, content: string | Buffer): void {
    writeFileSync(path.join(this.#options.folder, name), content, { mode: 0o600 });
  }
}

/** Returns ports of loopback that nobody uses, and that no connection is given by chance before they are used. */
async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = randomInt(20_000, 32_000);
    if (!ports.includes(port) && (await isFree(port))) ports.push(port);
  }
  return ports;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
