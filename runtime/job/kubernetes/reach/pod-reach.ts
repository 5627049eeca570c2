/**
 * Connects a driver to the pods of its job: by their addresses if it can, and otherwise through the API server. A driver outside of the
 * cluster usually reaches the API server alone.
 */
import type { PausablePipe } from "../../../link/transport/pipe.js";
import { connectTcp } from "../../../link/transport/tcp/connect.js";
import type { DialHost } from "../../kernel.js";
import { canConnect } from "../../reach/can-connect.js";
import type { KubernetesApi } from "../api/kubernetes-api.js";

/** The way by which a driver reaches pods. Null: the driver finds out with the first of them. */
export type ReachChoice = "direct" | "api-server" | null;

/** A pod that runs. */
export interface ReachedPod {
  readonly name: string;
  readonly ip: string;
}

export class PodReach {
  readonly #api: () => Promise<KubernetesApi>;
  #deciding: Promise<void> | undefined;
  #isDirect: boolean | undefined;

  constructor(api: () => Promise<KubernetesApi>, choice: ReachChoice) {
    this.#api = api;
    if (choice !== null) this.#isDirect = choice === "direct";
  }

  /** Finds out how pods are reached, unless that is known. @param port a port at which this pod listens, or will listen */
  async decide(pod: ReachedPod, port: number): Promise<void> {
    if (this.#isDirect !== undefined) return;
    this.#deciding ??= this.#canConnect(pod, port)
      .then((can) => {
        this.#isDirect = can;
      })
      .finally(() => {
        this.#deciding = undefined;
      });
    await this.#deciding;
  }

  /** Returns how a port of a pod is dialled; undefined if the driver dials its address, or has not found out. */
  dialOf(pod: string, port: number): DialHost | undefined {
    return this.#isDirect === false ? (signal) => this.#forwarded(pod, port, signal) : undefined;
  }

  /** Connects to a port of a pod. */
  async connect(pod: ReachedPod, port: number, signal: AbortSignal): Promise<PausablePipe> {
    await this.decide(pod, port);
    const dial = this.dialOf(pod.name, port);
    return dial === undefined ? connectTcp({ kind: "tcp", host: pod.ip, port }, signal) : dial(signal);
  }

  async #forwarded(pod: string, port: number, signal: AbortSignal): Promise<PausablePipe> {
    return (await this.#api()).openPort(pod, port, signal);
  }

  async #canConnect({ ip }: ReachedPod, port: number): Promise<boolean> {
    // A program in a pod of the cluster is in the network of the pods.
    if ((await this.#api()).isInside) return true;
    return canConnect(ip, port);
  }
}
