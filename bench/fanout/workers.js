/** Starts worker processes, each of which serves on a Unix socket of its own. */
import { fileURLToPath } from "node:url";
import { startReady } from "../harness/child.js";

const worker = fileURLToPath(new URL("worker.js", import.meta.url));

export async function startWorkers(peer, count, address) {
  const addresses = Array.from({ length: count }, (_, i) => `${address}-${i}`);
  const started = await Promise.all(addresses.map((own) => startReady([process.execPath, worker, peer, own])));
  return { addresses, stop: () => Promise.all(started.map(({ stop }) => stop())) };
}
