/** Starts the controller for provisioning as a program of its own, with the permissions that its manifest gives it and no others. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { KubernetesObjectApi } from "@kubernetes/client-node";
import { controllerObjects } from "../../../runtime/job/kubernetes/controller/manifest.js";
import { parseRules } from "../../../runtime/job/kubernetes/controller/rules/parse-rules.js";
import { until } from "../../proc/until.js";
import { issueToken } from "../lab/access.js";
import type { KubernetesLab } from "../lab/lab.js";

const cli = fileURLToPath(new URL("../../../dist/cli/viceroy.js", import.meta.url));

/** A line of the log of the controller. */
export interface LogLine {
  readonly event: string;
  readonly [fact: string]: unknown;
}

/** The kinds of objects that start the controller and lead to it, which tests do themselves. The controller needs the others. */
const startingKinds = ["Namespace", "Deployment", "Service", "NetworkPolicy"];

export class StartedController {
  readonly log: LogLine[] = [];
  readonly rulesFile: string;
  readonly #namespace: string;
  readonly #kubeconfig: string;
  readonly #address: string;
  #port = 0;
  #child: ChildProcess | undefined;
  #complaints = "";

  private constructor(namespace: string, kubeconfig: string, address: string, rulesFile: string) {
    this.#namespace = namespace;
    this.#kubeconfig = kubeconfig;
    this.#address = address;
    this.rulesFile = rulesFile;
  }

  /**
   * Makes the objects that the controller needs, and starts the controller.
   * @param namespace an empty namespace for it
   * @param rules the text of the rules
   */
  static async start(lab: KubernetesLab, namespace: string, rules: string): Promise<StartedController> {
    const objects = controllerObjects(parseRules(rules).rules!, rules, { namespace, image: "unused", lease: "15s" });
    const suffix = randomBytes(4).toString("hex");
    const api = KubernetesObjectApi.makeApiClient(lab.config);
    for (const object of objects.filter(({ kind }) => !startingKinds.includes(kind))) {
      // Cluster-wide names are those of all tests that run at the same time.
      const isWide = object.metadata["namespace"] === undefined;
      const text = JSON.stringify(object);
      const own = isWide
        ? text.replace(
            /"name":"viceroy-controller"(?=,"labels"|\},"subjects")/g,
            `"name":"viceroy-controller-${suffix}"`,
          )
        : text;
      await api.create(JSON.parse(own));
    }
    return StartedController.startInstalled(lab, namespace, rules);
  }

  /** Starts the controller with the permissions that its service account has already. */
  static async startInstalled(lab: KubernetesLab, namespace: string, rules: string): Promise<StartedController> {
    const folder = mkdtempSync(path.join(tmpdir(), "vk-"));
    const kubeconfig = path.join(folder, "kubeconfig");
    await issueToken(lab, { name: "viceroy-controller", namespace, kubeconfig });
    const rulesFile = path.join(folder, "rules.yaml");
    writeFileSync(rulesFile, rules);
    const address = lab.backend === "cluster" ? new URL(lab.config.getCurrentCluster()!.server).hostname : "127.0.0.1";
    const started = new StartedController(namespace, kubeconfig, address, rulesFile);
    await started.startAgain();
    return started;
  }

  get url(): string {
    return `https://${this.#address}:${this.#port}`;
  }

  get complaints(): string {
    return this.#complaints;
  }

  /** Starts it again after `kill`, at the same port, and resolves when it goes on with what it finds. */
  async startAgain(): Promise<void> {
    const from = this.log.length;
    const listen = `${this.#address}:${this.#port}`;
    const options = ["--rules", this.rulesFile, "--namespace", this.#namespace, "--listen", listen, "--lease", "15s"];
    const child = spawn(process.execPath, [cli, "controller", "run", ...options, "--kubeconfig", this.#kubeconfig], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    child.stderr.on("data", (chunk) => {
      this.#complaints += chunk;
    });
    let partial = "";
    child.stdout.on("data", (chunk) => {
      const lines = (partial + chunk).split("\n");
      partial = lines.pop()!;
      this.log.push(...lines.map((line) => JSON.parse(line) as LogLine));
    });
    const own = (event: string) => this.log.slice(from).find((line) => line.event === event);
    await until(() => {
      if (child.exitCode !== null) throw new Error(`the controller has ended: ${this.#complaints}`);
      return own("ready") !== undefined;
    });
    this.#port = own("listening")!["port"] as number;
  }

  /** Kills it at once. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }

  /** Waits for a line of the log. */
  async saw(event: string, matches: (line: LogLine) => boolean = () => true, limit?: number): Promise<LogLine> {
    const find = () => this.log.find((line) => line.event === event && matches(line));
    await until(() => find() !== undefined, limit).catch(() => {
      throw new Error(
        `no line "${event}" in the log of the controller:\n${this.log.map((line) => JSON.stringify(line)).join("\n")}`,
      );
    });
    return find()!;
  }
}
