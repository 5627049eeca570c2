/** Tells when pods of a namespace are made, are Ready, and are gone. */
import { CoreV1Api, KubeConfig, Watch } from "@kubernetes/client-node";

/**
 * @param {{ kubeconfig: string, namespace: string }} cluster
 * @returns the client, and a function that waits for an event and returns its time in milliseconds since 1970
 */
export async function podEvents({ kubeconfig, namespace }) {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const events = [];
  let wake = () => {};
  const take = (type, pod) => {
    events.push({ at: Date.now(), type, pod });
    wake();
  };
  await new Watch(config).watch(`/api/v1/namespaces/${namespace}/pods`, {}, take, () => {});
  const when = async (wanted) => {
    for (let next = 0; ; next++) {
      while (next >= events.length) {
        await new Promise((resolve) => {
          wake = resolve;
        });
      }
      if (wanted(events[next])) return events[next].at;
    }
  };
  return { core: config.makeApiClient(CoreV1Api), when };
}

/** Returns whether an event tells that a pod is Ready. */
export function isReady({ pod }) {
  return pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true;
}
