/** Remembers what has happened to the pod of a command, so that the end of its Job is explained: the Job tells that a pod has failed, and not why. */
import { commandMesh } from "../manifest/layout.js";
import type { PodState } from "../pods/pod-state.js";

export class CommandWatch {
  #last: string | undefined;

  /** Takes the pods as they are now. */
  see(pods: PodState): void {
    const pod = [...pods.values()].find(({ place }) => place.mesh === commandMesh);
    if (pod?.trouble !== undefined) this.#last = `pod ${pod.name} ${pod.trouble.text}`;
  }

  /** Returns the reason of the end of a run with what was seen of the pod. */
  explain(reason: string): string {
    return this.#last === undefined ? reason : `${this.#last}; ${reason}`;
  }
}
