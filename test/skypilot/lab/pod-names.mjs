/**
 * `pod-names.mjs <address> <kubectl> <kubeconfig>`: the name server of a cluster of tests. It answers the name of a pod with the address of
 * the pod, which is what the headless services of SkyPilot, one for each pod and of its name, would lead to. It asks `kubectl` for each name.
 */
import { execFileSync } from "node:child_process";
import { createSocket } from "node:dgram";

const [address, kubectl, kubeconfig] = process.argv.slice(2);
const socket = createSocket("udp4");

/** Returns the address of a pod; empty if there is no such pod, or it has none yet. */
function addressOf(pod) {
  const args = ["--kubeconfig", kubeconfig, "get", "pod", pod, "-o", "jsonpath={.status.podIP}"];
  try {
    return execFileSync(kubectl, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch {
    return "";
  }
}

/** Returns the answer to a message with one question: RFC 1035, section 4. */
function answerTo(message) {
  const first = message.toString("latin1", 13, 13 + message[12]);
  const nameEnd = message.indexOf(0, 12);
  const question = message.subarray(12, nameEnd + 5);
  const isAddress = message.readUInt16BE(nameEnd + 1) === 1;
  const found = addressOf(first);
  const header = Buffer.alloc(12);
  header.writeUInt16BE(message.readUInt16BE(0), 0);
  // An answer with authority, without an error or about a name that does not exist.
  header.writeUInt16BE(found === "" ? 0x8583 : 0x8580, 2);
  header.writeUInt16BE(1, 4);
  if (found === "" || !isAddress) return Buffer.concat([header, question]);
  header.writeUInt16BE(1, 6);
  // The name of the question, type A, class IN, for 5 s, 4 bytes.
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4, ...found.split(".").map(Number)]);
  return Buffer.concat([header, question, record]);
}

socket.on("message", (message, { port, address: asker }) => socket.send(answerTo(message), port, asker));
socket.bind(53, address);
