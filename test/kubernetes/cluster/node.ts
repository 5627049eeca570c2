/** A node of the real cluster: containerd and a kubelet on a machine that is a network namespace. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { stringify } from "yaml";
import type { Machine } from "../../faults/machines.js";
import { until } from "../../proc/until.js";
import { killGroup, makeGroup, removeGroup } from "./cgroups.js";
import type { DebianPrograms } from "./debian-programs.js";
import { type ImageArchive, pauseImage } from "./images.js";
import { RunningProgram } from "./programs.js";

export interface NodeOptions {
  readonly machine: Machine;
  /** Its number, from 1. Its pods have addresses in 10.244.<number>.0/24. */
  readonly number: number;
  readonly folder: string;
  readonly programs: string;
  readonly debian: DebianPrograms;
  readonly kubeconfig: string;
  readonly images: readonly ImageArchive[];
}

/** Returns the command prefix of a machine. `ip netns exec` would hide the control groups. */
export function entering({ through }: Machine): string[] {
  return ["nsenter", `--net=/run/netns/${through.at(-1)}`];
}

export class ClusterNode {
  readonly name: string;
  readonly #options: NodeOptions;
  readonly #group: string;
  #containerd: RunningProgram | undefined;
  #kubelet: RunningProgram | undefined;

  constructor(options: NodeOptions) {
    this.#options = options;
    this.name = options.machine.name;
    this.#group = `viceroy-${process.pid}-${this.name}`;
  }

  /** Starts the node, with all images. */
  async start(): Promise<void> {
    const { folder, images, debian, programs, kubeconfig, machine } = this.#options;
    for (const name of ["cni", "kubelet"]) mkdirSync(path.join(folder, name), { recursive: true });
    makeGroup(this.#group);
    this.#writeSettings();
    const through = entering(machine);
    const env = debian.env;
    const containerd = new RunningProgram({
      through,
      command: ["containerd", "--config", this.#at("containerd.toml")],
      folder,
      name: "containerd",
      env,
    });
    this.#containerd = containerd;
    await until(() => {
      containerd.check();
      return this.#answers();
    });
    for (const image of images) this.addImage(image);
    const files = [
      `--config=${this.#at("kubelet.yaml")}`,
      `--kubeconfig=${kubeconfig}`,
      `--root-dir=${this.#at("kubelet")}`,
      `--cert-dir=${this.#at("pki")}`,
    ];
    const identity = [`--hostname-override=${this.name}`, `--node-ip=${machine.ip}`];
    this.#kubelet = new RunningProgram({
      through,
      command: [path.join(programs, "kubelet"), ...files, ...identity],
      folder,
      name: "kubelet",
      env,
    });
  }

  addImage({ name, file }: ImageArchive): void {
    this.#ctr("images", "import", "--base-name", name, file);
  }

  /** @throws Error with the log if one of the programs has ended */
  check(): void {
    this.#containerd?.check();
    this.#kubelet?.check();
  }

  /** Ends the node at once with everything that runs on it. */
  async stop(): Promise<void> {
    await this.#kubelet?.stop();
    const spaces = this.#answers() ? this.#podNetworks() : [];
    await this.#containerd?.stop();
    // What watches over a container is killed before the container, so that nothing is started again.
    for (const pid of this.#options.machine.pids) process.kill(pid, "SIGKILL");
    await until(() => !killGroup(this.#group));
    this.#unmount();
    // The end of its pod may have removed it already.
    for (const space of spaces) spawnSync("ip", ["netns", "del", space]);
    removeGroup(this.#group);
  }

  #at(name: string): string {
    return path.join(this.#options.folder, name);
  }

  #ctr(...args: readonly string[]): string {
    const command = ["--address", this.#at("containerd.sock"), "--namespace", "k8s.io", ...args];
    return execFileSync("ctr", command, {
      encoding: "utf8",
      env: this.#options.debian.env,
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  #answers(): boolean {
    try {
      this.#ctr("version");
      return true;
    } catch {
      return false;
    }
  }

  /** Returns the network namespaces of the pods, which outlive everything else. */
  #podNetworks(): string[] {
    const paths = this.#ctr("containers", "ls", "--quiet")
      .trim()
      .split("\n")
      .filter((id) => id !== "")
      .map((id) => {
        const { Spec } = JSON.parse(this.#ctr("containers", "info", id)) as {
          Spec: { linux: { namespaces: { type: string; path?: string }[] } };
        };
        return Spec.linux.namespaces.find(({ type }) => type === "network")?.path;
      });
    return [
      ...new Set(
        paths.filter((found) => found?.startsWith("/var/run/netns/cni-")).map((found) => path.basename(found!)),
      ),
    ];
  }

  #unmount(): void {
    const mounted = readFileSync("/proc/mounts", "utf8")
      .split("\n")
      .map((line) => line.split(" ")[1] ?? "");
    const own = mounted.filter((place) => place.startsWith(`${this.#options.folder}/`)).reverse();
    for (const place of own) execFileSync("umount", ["--lazy", place]);
  }

  #writeSettings(): void {
    const { machine, number, debian } = this.#options;
    const ipam = {
      type: "host-local",
      dataDir: this.#at("ipam"),
      ranges: [[{ subnet: `10.244.${number}.0/24` }]],
      routes: [{ dst: "0.0.0.0/0" }],
    };
    const bridge = { type: "bridge", bridge: "cni0", isGateway: true, ipMasq: false, hairpinMode: true, ipam };
    writeFileSync(
      this.#at("cni/10-bridge.conflist"),
      JSON.stringify({ cniVersion: "0.4.0", name: "lab", plugins: [bridge] }),
    );
    writeFileSync(
      this.#at("containerd.toml"),
      `version = 2
root = "${this.#at("containerd")}"
state = "${this.#at("state")}"
[grpc]
  address = "${this.#at("containerd.sock")}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  disable_apparmor = true
  restrict_oom_score_adj = true
  stream_server_address = "${machine.ip}"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${path.join(debian.folder, "usr/lib/cni")}"
    conf_dir = "${this.#at("cni")}"
`,
    );
    const kubelet = {
      kind: "KubeletConfiguration",
      apiVersion: "kubelet.config.k8s.io/v1beta1",
      address: machine.ip,
      // Nobody reaches this network but the tests.
      authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
      authorization: { mode: "AlwaysAllow" },
      cgroupDriver: "cgroupfs",
      cgroupRoot: `/${this.#group}`,
      cgroupsPerQOS: true,
      containerRuntimeEndpoint: `unix://${this.#at("containerd.sock")}`,
      enforceNodeAllocatable: [],
      evictionHard: { "memory.available": "100Mi" },
      failCgroupV1: false,
      failSwapOn: false,
      healthzBindAddress: "127.0.0.1",
      imageGCHighThresholdPercent: 100,
      maxPods: 60,
      nodeStatusUpdateFrequency: "4s",
      // A node removes the logs of pods that it does not know, and so those of the other node in a shared folder.
      podLogsDir: this.#at("pod-logs"),
      resolvConf: "",
      syncFrequency: "5s",
      volumePluginDir: this.#at("plugins"),
    };
    writeFileSync(this.#at("kubelet.yaml"), stringify(kubelet));
  }
}
