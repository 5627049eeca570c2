/** Starts a server process on the other host. */
import { fileURLToPath } from "node:url";
import { startReady } from "../harness/child.js";

const server = fileURLToPath(new URL("server.js", import.meta.url));

/** @returns {Promise<{ port: number, stop: () => Promise<void> }>} */
export async function startServer(peer, plan) {
  const { line, stop } = await startReady([...plan.through, process.execPath, server, peer, JSON.stringify(plan)]);
  return { port: Number(line), stop };
}
