/** The backend with a real control plane, and two nodes that are stand-ins of the kubelet. */
import path from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import { ControlPlane } from "../cluster/control-plane.js";
import { Addresses } from "../kubelet/addresses.js";
import { idleImage, nodeImage } from "../kubelet/images.js";
import { StandInKubelet } from "../kubelet/kubelet.js";
import type { Ends } from "./ends.js";
import type { HeldLab } from "./held-lab.js";
import { evictFrom, nodeOf } from "./stand-in-lab.js";

const nodes = ["n1", "n2"];

/** Starts the control plane and the nodes. */
export async function startControlPlaneLab(programs: string, folder: string, ends: Ends): Promise<HeldLab> {
  const plane = await ControlPlane.start({
    programs,
    folder: path.join(folder, "control-plane"),
    ip: "127.0.0.1",
    through: [],
    ends,
  });
  const config = new KubeConfig();
  config.loadFromFile(plane.kubeconfig);
  const addresses = new Addresses(`127.${(process.pid % 250) + 2}`);
  const kubelets = nodes.map((name) => new StandInKubelet({ config, name, addresses, tls: plane.tls }));
  for (const kubelet of kubelets) {
    await kubelet.start();
    ends.push(() => kubelet.stop());
  }
  return {
    description: {
      backend: "control-plane",
      kubeconfig: plane.kubeconfig,
      nodeImage,
      idleImage,
      nodes,
      kubectl: path.join(programs, "kubectl"),
    },
    through: [],
    commands: {
      stopApiServer: () => plane.stopApiServer(),
      startApiServer: () => plane.startApiServer(),
      forgetHistory: () => plane.forgetHistory(),
      evictByNode: (namespace, pod, resource) => evictFrom(kubelets, namespace!, pod!, resource),
      exceedMemory: async (namespace, pod) => nodeOf(kubelets, namespace!, pod!).exceedMemory(namespace!, pod!),
      addControllerImage() {
        throw new Error("cannot add an image: stand-ins of the kubelet run the files of this machine");
      },
    },
  };
}
