/** `viceroy.js <add, record or matmul>`: for each input line, prints the processor time of one operation in this process. */
import { createInterface } from "node:readline";
import { thisHost } from "../../../dist/index.js";
import { threads, torch } from "../../../dist/tensor.js";

const [operation] = process.argv.slice(2);
const times = operation === "matmul" ? 5 : 50_000;
const size = operation === "matmul" ? 1024 : 2;
threads(1);
const procs = operation === "record" ? thisHost().spawnProcs({ gpus: 1 }) : undefined;
const mesh = procs?.activate({ threads: 1 });
const [a, b] = mesh === undefined ? operands() : mesh.run(operands);
const runOnce = operation === "matmul" ? () => a.matmul(b).dispose() : () => a.add(b).dispose();

function operands() {
  return [torch.randn([size, size]), torch.randn([size, size])];
}

async function measure() {
  const begin = process.cpuUsage();
  // The time includes sending what is recorded.
  for (let i = 0; i < times; i++) runOnce();
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
