/**
 * The backend with a real cluster: a control plane and two nodes, each on a machine of a network that nobody else reaches.
 * Tests run on the machine of the control plane, which reaches pods; a laptop reaches the API server alone.
 */
import { execFileSync } from "node:child_process";
import path from "node:path";
import { type Machine, makeNetwork } from "../../faults/machines.js";
import { until } from "../../proc/until.js";
import { ControlPlane } from "../cluster/control-plane.js";
import { debianPrograms } from "../cluster/debian-programs.js";
import { controllerArchive, type ImageArchive, imageArchives } from "../cluster/images.js";
import { ClusterNode, entering } from "../cluster/node.js";
import { nodeImage } from "../kubelet/images.js";
import type { Ends } from "./ends.js";
import type { HeldLab } from "./held-lab.js";

/** The address of the API server for pods, which the nodes translate. */
const service = "10.96.0.1";

/**
 * Starts the cluster, and waits until both nodes are ready.
 * @param further images that the nodes have in addition
 */
export async function startClusterLab(
  programs: string,
  folder: string,
  ends: Ends,
  further: readonly ImageArchive[] = [],
): Promise<HeldLab> {
  const debian = debianPrograms(process.env["VICEROY_KUBERNETES_PROGRAMS"]!);
  const images = [...imageArchives(debian), ...further];
  const { control, n1, n2, laptop } = makeNetwork(["control", "n1", "n2", "laptop"], (end) => ends.push(end));
  const machines = [n1, n2];
  route(control, machines, debian.env);
  const through = entering(control);
  const plane = await ControlPlane.start({
    programs,
    folder: path.join(folder, "control-plane"),
    ip: control.ip,
    through,
    ends,
  });
  const kubectl = path.join(programs, "kubectl");
  const nodes = machines.map((machine, i) => {
    const place = path.join(folder, machine.name);
    return new ClusterNode({
      machine,
      number: i + 1,
      folder: place,
      programs,
      debian,
      kubeconfig: plane.kubeconfig,
      images,
    });
  });
  await Promise.all(
    nodes.map(async (node) => {
      ends.push(() => node.stop());
      await node.start();
    }),
  );
  const ready = () => {
    const [file, ...args] = [...through, kubectl, "--kubeconfig", plane.kubeconfig, "get", "nodes", "--no-headers"];
    return execFileSync(file!, args, { encoding: "utf8" })
      .split("\n")
      .filter((line) => /\sReady\s/.test(line)).length;
  };
  await until(() => {
    for (const node of nodes) node.check();
    return ready() === nodes.length;
  });
  return {
    description: {
      backend: "cluster",
      kubeconfig: plane.kubeconfig,
      nodeImage,
      nodes: ["n1", "n2"],
      laptop: entering(laptop),
      kubectl,
    },
    through,
    commands: {
      stopApiServer: () => plane.stopApiServer(),
      startApiServer: () => plane.startApiServer(),
      forgetHistory: () => plane.forgetHistory(),
      exceedMemory() {
        throw new Error("cannot let a pod exceed its memory: the program in it has to use that much");
      },
      async addControllerImage() {
        const image = controllerArchive(debian, folder);
        for (const node of nodes) node.addImage(image);
      },
      evictByNode() {
        throw new Error(
          "cannot evict a pod by its node: a real kubelet evicts pods when the machine has no memory left",
        );
      },
    },
  };
}

/** Connects the pods of all nodes, and leads connections to the service of the API server there. */
function route(control: Machine, nodes: readonly Machine[], env: NodeJS.ProcessEnv): void {
  const run = (machine: Machine, command: readonly string[], input = "") => {
    const [file, ...args] = [...entering(machine), ...command];
    execFileSync(file!, args, { env, input, stdio: ["pipe", "ignore", "pipe"] });
  };
  const rules = `table ip lab {
  chain to-service {
    type nat hook prerouting priority -100
    ip daddr ${service} tcp dport 443 dnat to ${control.ip}:6443
  }
}`;
  for (const machine of [control, ...nodes]) {
    run(machine, ["sysctl", "-qw", "net.ipv4.ip_forward=1"]);
    for (const [i, node] of nodes.entries()) {
      if (node !== machine) run(machine, ["ip", "route", "replace", `10.244.${i + 1}.0/24`, "via", node.ip]);
    }
  }
  for (const node of nodes) {
    run(node, ["ip", "route", "replace", "default", "via", control.ip]);
    run(node, ["nft", "-f", "-"], rules);
  }
}
