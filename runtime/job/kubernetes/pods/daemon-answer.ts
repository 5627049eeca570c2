/** Finds out whether the daemon of a pod listens, before the kubelet says so. */
import { waitForAnswer } from "../../reach/answering-hosts.js";
import { hostPort } from "../manifest/layout.js";
import type { PodReach } from "../reach/pod-reach.js";
import type { RunningPod } from "./pod-signer.js";

/** Time in ms for a daemon to listen after it has got its certificate. The word of the kubelet counts when it takes longer. */
const listenMs = 5000;
/** Time in ms for one attempt. */
const attemptMs = 2000;

/** Resolves with whether the daemon of a pod accepts connections within 5 s, and before `signal` is aborted. */
export async function daemonListens(reach: PodReach, pod: RunningPod, signal: AbortSignal): Promise<boolean> {
  const { name: node, port = hostPort } = pod;
  const connect = async () => (await reach.connect(pod, port, AbortSignal.timeout(attemptMs))).destroy();
  const either = AbortSignal.any([signal, AbortSignal.timeout(listenMs)]);
  return waitForAnswer({ node, port }, either, { connect, advice: "" }).then(
    () => true,
    () => false,
  );
}
