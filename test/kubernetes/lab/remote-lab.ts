/** A lab that another process holds: its description is a file, and its commands go through a socket. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { KubeConfig } from "@kubernetes/client-node";
import type { KubernetesLab } from "./lab.js";

/** What a lab tells the processes that use it. */
export interface LabDescription extends Pick<KubernetesLab, "backend" | "kubeconfig" | "nodeImage" | "nodes"> {
  readonly idleImage?: string;
  readonly laptop?: readonly string[];
  /** The socket that takes commands. */
  readonly socket: string;
  readonly kubectl: string;
}

/** A command: the name of a member of the lab, and its arguments. */
export interface LabCommand {
  readonly call:
    | "stopApiServer"
    | "startApiServer"
    | "forgetHistory"
    | "evictByNode"
    | "exceedMemory"
    | "addControllerImage";
  readonly args: readonly string[];
}

/** Joins a lab. @param file the file of its description */
export function joinLab(file: string): KubernetesLab {
  const description = JSON.parse(readFileSync(file, "utf8")) as LabDescription;
  const { kubeconfig, socket, kubectl } = description;
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const call = (name: LabCommand["call"], ...args: readonly string[]) => command(socket, { call: name, args });
  return {
    ...description,
    config,
    idleImage: description.idleImage,
    laptop: description.laptop,
    stopApiServer: () => call("stopApiServer"),
    startApiServer: () => call("startApiServer"),
    forgetHistory: () => call("forgetHistory"),
    evictByNode: (namespace, pod, resource = "memory") => call("evictByNode", namespace, pod, resource),
    exceedMemory: (namespace, pod) => call("exceedMemory", namespace, pod),
    addControllerImage: () => call("addControllerImage"),
    kubectl: (...args) => execFileSync(kubectl, ["--kubeconfig", kubeconfig, ...args], { encoding: "utf8" }),
  };
}

/** @throws Error with the text of the lab if it cannot execute the command */
async function command(socketPath: string, wanted: LabCommand): Promise<void> {
  const answer = await new Promise<{ code: number; body: string }>((resolve, reject) => {
    const asked = request({ socketPath, method: "POST", path: "/" }, async (response) => {
      resolve({ code: response.statusCode!, body: await text(response) });
    });
    asked.on("error", reject).end(JSON.stringify(wanted));
  });
  if (answer.code !== 200) throw new Error(answer.body);
}
