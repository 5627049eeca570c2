/**
 * The program of a keeper. It reads its order from standard input, and prints one line when it listens, or why it cannot
 * start. Its standard output is closed then, so that the driver that has started it can end.
 */
import { closeSync, writeSync } from "node:fs";
import { text } from "node:stream/consumers";
import { errorMessage } from "../../../shared/text/error-message.js";
import { Keeper } from "./keeper.js";
import type { KeeperOrder } from "./keeper-order.js";
import { serveKeeper } from "./keeper-server.js";

/** Time in ms for the last answers to be read. */
const lastAnswersMs = 1000;

// The terminal of the driver may close.
for (const signal of ["SIGHUP", "SIGINT"] as const) process.on(signal, () => {});

async function start() {
  const order = JSON.parse(await text(process.stdin)) as KeeperOrder;
  const { certificates } = order;
  // Hosts on this machine need no certificates, and their keepers do not load what signs them.
  const certifier =
    certificates &&
    (await import("../credentials/index.js")).hostCertifier(certificates.credentials, certificates.lifetime);
  const keeper = new Keeper(order, certifier);
  process.on("SIGTERM", () => void keeper.end("its keeper was ended by SIGTERM"));
  return { keeper, server: await serveKeeper(keeper) };
}

const { keeper, server } = await start().catch((error) => {
  // Its log file can be on a full disk.
  writeSync(1, errorMessage(error));
  process.exit(1);
});
writeSync(1, "ready\n");
closeSync(1);
await keeper.ended;
server.close();
setTimeout(() => process.exit(), lastAnswersMs).unref();
