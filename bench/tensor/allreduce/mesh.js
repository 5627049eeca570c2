/** `mesh.js <memory or tcp> <repeats>`: a mesh of two processes. For each input line, prints the duration of one all-reduce in ms. */
import { createInterface } from "node:readline";
import { thisHost } from "../../../dist/index.js";
import { inspect, torch } from "../../../dist/tensor.js";

const [transport, repeats] = process.argv.slice(2);
const env = transport === "tcp" ? { VICEROY_TENSOR_LINES: "tcp", VICEROY_TENSOR_ADDRESS: "127.0.0.1" } : {};
const procs = thisHost().spawnProcs({ gpus: 2 }, { env });
const mesh = procs.activate({ threads: 1 });
const elements = 64 << 18;
const x = mesh.run(() => torch.ones([elements]));

async function measure(times) {
  const begin = performance.now();
  for (let i = 0; i < times; i++) x.reduce("gpus", "sum").dispose();
  await mesh.finish();
  return (performance.now() - begin) / times;
}

await measure(20);
const sum = await inspect(x.reduce("gpus", "sum").sum(), { gpus: 1 });
if (sum.item() !== 2 * elements) throw new Error(`the sum is ${sum.item()}`);
console.log("{}");
for await (const _ of createInterface(process.stdin))
  console.log(JSON.stringify({ ms: await measure(Number(repeats)) }));
await mesh.end();
await procs.stop();
