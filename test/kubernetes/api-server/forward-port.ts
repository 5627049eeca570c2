/** Passes WebSockets to ports of pods on to the kubelets of their nodes. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { connect } from "node:tls";
import type { ApiRequest } from "./request.js";
import { resourceOf } from "./resources.js";
import { badRequest } from "./status-error.js";
import type { Store } from "./store.js";

/** @throws StatusError if there is no such pod, or it has no node */
export function forwardPort(
  store: Store,
  { namespace, name, query }: ApiRequest,
  request: IncomingMessage,
  socket: Duplex,
): void {
  const pod = store.get(resourceOf("pods"), namespace, name!);
  const node = store.find(resourceOf("nodes"), undefined, pod["spec"].nodeName ?? "");
  if (node === undefined) throw badRequest(`pod ${name} does not have a host assigned`);
  const { address } = (node["status"].addresses as { type: string; address: string }[]).find(
    ({ type }) => type === "InternalIP",
  )!;
  const port = node["status"].daemonEndpoints.kubeletEndpoint.Port as number;
  // The real API server does not check the certificate of a kubelet either, unless it is told to.
  const kubelet = connect({ host: address, port, rejectUnauthorized: false }, () => {
    const { authorization: _, ...headers } = request.headers;
    const lines = Object.entries(headers).map(([key, value]) => `${key}: ${value}`);
    const path = `/portForward/${namespace}/${name}?port=${query.get("ports")}`;
    kubelet.write(`GET ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
    kubelet.pipe(socket).pipe(kubelet);
  });
  for (const [one, other] of [
    [kubelet, socket],
    [socket, kubelet],
  ] as const) {
    one.on("error", () => other.destroy());
    one.on("close", () => other.destroy());
  }
}
