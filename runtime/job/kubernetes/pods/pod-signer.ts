/** Calls the pods of a job that need a certificate, and those that may want theirs renewed. */
import { CalledHosts, type CalledHostsOptions } from "../../called-hosts.js";
import { currentPods, type PodFacts, type PodState } from "./pod-state.js";

/** A pod that runs. */
export type RunningPod = PodFacts & { readonly ip: string };

export type PodSignerOptions = CalledHostsOptions<RunningPod>;

export class PodSigner extends CalledHosts<RunningPod> {
  /** Takes the pods as they are now. */
  seePods(state: PodState): void {
    const running = ({ isRunning, isOver, ip }: PodFacts) => isRunning && !isOver && ip;
    this.see([...currentPods(state).values()].filter((pod): pod is RunningPod => Boolean(running(pod))));
  }
}
