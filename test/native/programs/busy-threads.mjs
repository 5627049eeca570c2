/**
 * Starts two threads that load an addon and end while the addon is working. The arguments are the name and the file of the addon, the
 * file of the addon `stack`, `first` and `end`.
 *
 * `first` selects the thread that loads the addon first. `main`: this thread, which keeps the addon busy, too. `threads`: the other threads;
 * this thread loads the addon after they have ended.
 * `end` selects how the threads end. `terminated`: this thread terminates them. `exited`: they call `process.exit`. `returned`: they have no
 * more work. With the other values, the program ends while they run: `program-exits` calls `process.exit`, and with `program-ends` the
 * program has no more work.
 */
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { keepBusy } from "./busy.mjs";

async function program([name, file, stackFile, first, end]) {
  if (first === "main") globalThis.kept = keepBusy(name, file, stackFile);
  const workers = Array.from(
    { length: 2 },
    () => new Worker(fileURLToPath(import.meta.url), { workerData: { name, file, stackFile, end } }),
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
  if (first === "threads") globalThis.kept = keepBusy(name, file, stackFile);
  console.log("ended");
}

function thread({ name, file, stackFile, end }) {
  globalThis.kept = keepBusy(name, file, stackFile);
  parentPort.once("message", () => {
    if (end === "exited") process.exit();
    parentPort.unref();
  });
  parentPort.postMessage("busy");
}

if (isMainThread) await program(process.argv.slice(2));
else thread(workerData);
