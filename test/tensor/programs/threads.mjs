// Tensors in worker threads: each has its own, and one that is ended in the middle of work leaves the others alone.
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { thisProc } from "viceroy";
import { inspect, tensor, torch } from "viceroy/tensor";

async function compute() {
  return thisProc().activate(async () => {
    const w = tensor([1, 2, 3], { requiresGrad: true });
    w.mul(w).sum().backward();
    return (await inspect(w.grad)).toArray();
  });
}

if (isMainThread) {
  const start = () => new Worker(new URL(import.meta.url));
  const once = (worker) => new Promise((resolve) => worker.once("message", resolve));
  const workers = [start(), start()];
  const results = await Promise.all([compute(), ...workers.map(once)]);
  // They compute without end by now.
  await Promise.all(workers.map((worker) => worker.terminate()));
  console.log(JSON.stringify([...results, await compute()]));
} else {
  parentPort.postMessage(await compute());
  void thisProc().activate(async () => {
    let product = torch.eye(300);
    for (;;) {
      product = product.matmul(product);
      await inspect(product);
    }
  });
}
