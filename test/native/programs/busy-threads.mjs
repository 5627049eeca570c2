/**
 * Two threads that load an addon and end in the middle of its work. Arguments: name and file of the addon, `first` and `end`.
 *
 * first: which thread loads the addon first. `main`: this one, which is kept busy by the addon as well. `threads`: the others, and this one
 * after they have ended.
 * end: how the threads end. `terminated`: by this thread. `exited`: by their own `process.exit`. `returned`: they have nothing more to do. Or
 * the program ends while they run, `program-exits`: by `process.exit`. `program-ends`: it has nothing more to do.
 */
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { keepBusy } from "./busy.mjs";

async function program([name, file, first, end]) {
  if (first === "main") globalThis.kept = keepBusy(name, file);
  const workers = Array.from(
    { length: 2 },
    () => new Worker(fileURLToPath(import.meta.url), { workerData: { name, file, end } }),
  );
  const ended = workers.map((worker) => once(worker, "exit"));
  await Promise.all(workers.map((worker) => once(worker, "message")));
  if (end.startsWith("program")) {
    for (const worker of workers) worker.unref();
    console.log("ended");
    if (end === "program-exits") process.exit();
    return;
  }
  for (const worker of workers) {
    if (end === "terminated") void worker.terminate();
    else worker.postMessage("end");
  }
  await Promise.all(ended);
  if (first === "threads") globalThis.kept = keepBusy(name, file);
  console.log("ended");
}

function thread({ name, file, end }) {
  globalThis.kept = keepBusy(name, file);
  parentPort.once("message", () => {
    if (end === "exited") process.exit();
    parentPort.unref();
  });
  parentPort.postMessage("busy");
}

if (isMainThread) await program(process.argv.slice(2));
else thread(workerData);
