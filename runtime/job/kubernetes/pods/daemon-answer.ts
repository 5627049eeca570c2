/** Finds out whether the daemon of a pod listens, before the kubelet says so. */
import { parseNetworkAddress } from "../../../link/transport/network-address.js";
import { FileCredentials, secureConnection, type TlsFiles } from "../../kernel.js";
import { waitForAnswer } from "../../reach/answering-hosts.js";
import { hostPort } from "../manifest/layout.js";
import type { PodReach } from "../reach/pod-reach.js";
import type { RunningPod } from "./pod-signer.js";

/** Time in ms for a daemon to listen after it has got its certificate. The word of the kubelet counts when it takes longer. */
const listenMs = 5000;
/** Time in ms for one attempt. */
const attemptMs = 2000;

/** The proofs of the two sides of a connection. */
export interface DaemonProofs {
  /** The address of the daemon, with its identity. */
  readonly address: string;
  /** The certificate of this program. */
  readonly files: TlsFiles;
}

/** Resolves with whether the daemon of a pod answers with its certificate within 5 s, and before `signal` is aborted. */
export async function daemonListens(
  reach: PodReach,
  pod: RunningPod,
  { address, files }: DaemonProofs,
  signal: AbortSignal,
): Promise<boolean> {
  const { name: node, port = hostPort } = pod;
  const daemon = parseNetworkAddress(address);
  const credentials = new FileCredentials(files);
  // Through the API server, there is a connection before the node has connected to the pod: only what the daemon says counts.
  const connect = async () => {
    const limit = AbortSignal.timeout(attemptMs);
    const pipe = await reach.connect(pod, port, limit);
    (await secureConnection(pipe, daemon, credentials, limit)).destroy();
  };
  const either = AbortSignal.any([signal, AbortSignal.timeout(listenMs)]);
  return waitForAnswer({ node, port }, either, { connect, advice: "" }).then(
    () => true,
    () => false,
  );
}
