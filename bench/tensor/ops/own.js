/** `own.js <add, record or matmul>`: answers each line by the processor time that one operation has taken in this process. */
import { createInterface } from "node:readline";
import { thisHost } from "../../../dist/index.js";
import { threads, torch } from "../../../dist/tensor.js";

const [what] = process.argv.slice(2);
const times = what === "matmul" ? 5 : 50_000;
const size = what === "matmul" ? 1024 : 2;
threads(1);
const procs = what === "record" ? thisHost().spawnProcs({ gpus: 1 }) : undefined;
const mesh = procs?.activate({ threads: 1 });
const [a, b] = mesh === undefined ? operands() : mesh.run(operands);
const once = what === "matmul" ? () => a.matmul(b).dispose() : () => a.add(b).dispose();

function operands() {
  return [torch.randn([size, size]), torch.randn([size, size])];
}

async function measure() {
  const begin = process.cpuUsage();
  // What is recorded is sent with it.
  for (let i = 0; i < times; i++) once();
  await mesh?.finish();
  const { user, system } = process.cpuUsage(begin);
  return (user + system) / times;
}

await measure();
console.log("{}");
for await (const _ of createInterface(process.stdin)) {
  const us = await measure();
  console.log(JSON.stringify({ us, ms: us / 1000 }));
}
await mesh?.end();
await procs?.stop();
