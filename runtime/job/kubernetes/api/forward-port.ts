/**
 * Connections to ports of pods through the API server, as `kubectl port-forward` makes them: a WebSocket with the subprotocol
 * `v4.channel.k8s.io`, whose messages begin with the number of a channel.
 * https://github.com/kubernetes/kubernetes/blob/v1.36.0/staging/src/k8s.io/kubelet/pkg/cri/streaming/portforward/websocket.go
 */
import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import type { PausablePipe } from "../../../link/transport/pipe.js";
import type { MessageFraming } from "../../../link/transport/websocket/index.js";
import type { ClusterAccess } from "./access.js";
import { type Asked, KubernetesError, loginError, refusedError, silentError } from "./kubernetes-error.js";
import { pathOf } from "./resources.js";

/** The channel of the bytes, and that of the text with which the node says why it cannot connect. */
const dataChannel = 0;
const errorChannel = 1;

/** The number of bytes of a port. The first message of each channel tells it. */
const portBytes = 2;

/** A port of a pod. */
export interface PodPort {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
}

/**
 * Connects to a port of a pod, at its loopback address. The node connects later, so a port at which nothing listens ends the pipe.
 * @throws KubernetesError if the API server refuses it, or does not answer
 */
export async function forwardPort(access: ClusterAccess, target: PodPort, signal: AbortSignal): Promise<PausablePipe> {
  try {
    return await dial(access, target, signal);
  } catch (error) {
    if (!(error instanceof KubernetesError && error.isLoginFailure)) throw error;
    await access.reload();
    return dial(access, target, signal);
  }
}

async function dial(
  access: ClusterAccess,
  { namespace, pod, port }: PodPort,
  signal: AbortSignal,
): Promise<PausablePipe> {
  const asked: Asked = { verb: "get", resource: "pods/portforward", name: pod, namespace };
  const url = new URL(`${access.server}${pathOf(namespace, "Pod", pod)}/portforward?ports=${port}`);
  url.protocol = url.protocol === "http:" ? "ws:" : "wss:";
  const { headers, ...options } = await access.requestOptions().catch((cause: unknown) => {
    throw loginError(cause, access);
  });
  const dialled = {
    ...(options as object),
    headers: headers as Readonly<Record<string, string>>,
    protocols: ["v4.channel.k8s.io"],
    framing: channelFraming(pod, port),
    refused: async (answer: IncomingMessage) =>
      refusedError({ status: answer.statusCode ?? 0, text: await text(answer).catch(() => "") }, asked, access),
  };
  const { dialWebSocket } = await import("../../../link/transport/websocket/index.js");
  try {
    return await dialWebSocket(url, dialled, signal);
  } catch (error) {
    if (signal.aborted || error instanceof KubernetesError) throw error;
    throw silentError(error, asked, access);
  }
}

/** Returns how the channels of one port are put into messages. Exported for tests. */
export function channelFraming(pod: string, port: number): MessageFraming {
  const begun = new Set<number>();
  return {
    header: Uint8Array.of(dataChannel),
    payload(message) {
      const channel = message[0];
      if (channel !== dataChannel && channel !== errorChannel) {
        throw new Error(`the API server has sent a message of channel ${channel}, and a forwarded port has two`);
      }
      const bytes = message.subarray(1);
      if (!begun.has(channel)) {
        begun.add(channel);
        if (bytes.length !== portBytes || bytes.readUInt16LE() !== port) {
          throw new Error(`the API server has forwarded something else than port ${port} of pod ${pod}`);
        }
        return bytes.subarray(portBytes);
      }
      if (channel === dataChannel) return bytes;
      throw new Error(
        `cannot reach port ${port} of pod ${pod} through the API server: ${bytes.toString("utf8", 0, 400).trim()}`,
      );
    },
  };
}
