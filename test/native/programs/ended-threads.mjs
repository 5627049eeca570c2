// Terminates threads while an addon rejects their calls. The argument is the file of the addon. This process must continue.
import { setTimeout as delay } from "node:timers/promises";
import { Worker } from "node:worker_threads";

const refused = `
  const { parentPort, workerData } = require("node:worker_threads");
  const functions = Object.values(require(workerData)).filter((value) => typeof value === "function");
  const [first] = functions.filter((call) => {
    try {
      call();
      return false;
    } catch (error) {
      return error.message !== "";
    }
  });
  parentPort.postMessage(first !== undefined);
  for (;;) {
    try {
      first();
    } catch {}
  }`;

let refusing = 0;
for (let i = 0; i < 30; i++) {
  const worker = new Worker(refused, { eval: true, workerData: process.argv[2] });
  if (await new Promise((resolve) => worker.once("message", resolve))) refusing++;
  await delay(i % 5);
  await worker.terminate();
}
console.log(refusing);
