/**
 * Makes a pod, waits until it is Ready, and deletes it: `node bare-pod.js <kubeconfig> <namespace> <pod as JSON>`. Prints one line of JSON, with times
 * in milliseconds since 1970.
 */
import { isReady, podEvents } from "./pod-events.js";

const [, , kubeconfig, namespace, pod] = process.argv;
const body = JSON.parse(pod);
const { name } = body.metadata;
const { core, when } = await podEvents({ kubeconfig, namespace });
const isOfPod = ({ pod: { metadata } }) => metadata.name === name;
const asked = Date.now();
await core.createNamespacedPod({ namespace, body });
const created = await when(isOfPod);
const ready = await when((event) => isOfPod(event) && isReady(event));
await core.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 1 });
await when((event) => isOfPod(event) && event.type === "DELETED");
process.stdout.write(`${JSON.stringify({ asked, created, ready })}\n`);
process.exit(0);
