/**
 * `viceroy.js <plain or recorded> <number of operations, or training> <steps>`: calls a step on a mesh of one process. Prints its result after
 * a few calls. Then, for each input line, calls the step `steps` times and prints averages for one call: us of processor time of this process,
 * and the bytes that it has sent.
 */
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setImmediate as turn } from "node:timers/promises";
import { thisHost } from "../../../dist/index.js";
import { inspect, manualSeed, nn, optim, recorded, TensorScope, torch } from "../../../dist/tensor.js";

const [name, kind, stepsText] = process.argv.slice(2);
const steps = Number(stepsText);
/** Bytes that this process has written. Its links are sockets, so they are included. */
const written = () => Number(/^wchar: (\d+)$/m.exec(readFileSync("/proc/self/io", "latin1"))[1]);

const procs = thisHost().spawnProcs({ gpus: 1 });
const mesh = procs.activate({ threads: 1 });
const { x, step } = mesh.run(() => {
  manualSeed(1);
  const x = torch.randn([8, 8]);
  return { x, step: kind === "training" ? trainingStep() : operationsStep(Number(kind)) };
});
const call = name === "recorded" ? recorded(step) : plainly(step);

function operationsStep(operations) {
  const weights = torch.randn([8, 8]);
  return (x) => {
    let y = x;
    for (let i = 1; i < operations; i += 2) y = y.add(weights).mul(0.5);
    return y;
  };
}

function trainingStep() {
  const layers = [new nn.Linear(8, 8), torch.relu, new nn.Linear(8, 8), torch.relu, new nn.Linear(8, 8)];
  const model = new nn.Sequential(...layers);
  const optimizer = new optim.AdamW(model.parameters());
  return (x) => {
    optimizer.zeroGrad();
    const loss = torch.mse_loss(model.forward(x), x);
    loss.backward();
    optimizer.step();
    return loss;
  };
}

function plainly(step) {
  return (x) => {
    const scope = new TensorScope();
    try {
      return scope.keep(step(x).detach());
    } finally {
      scope.dispose();
    }
  };
}

async function measure() {
  const before = { cpu: process.cpuUsage(), written: written() };
  for (let i = 0; i < steps; i++) {
    mesh.run(() => call(x)).dispose();
    // Lets the event loop send this step while the next one is recorded.
    await turn();
  }
  await mesh.finish();
  const { user, system } = process.cpuUsage(before.cpu);
  return { us: (user + system) / steps, bytes: (written() - before.written) / steps };
}

for (let i = 0; i < 5; i++) mesh.run(() => call(x)).dispose();
const result = (await inspect(mesh.run(() => call(x).sum()))).item();
await measure();
console.log(JSON.stringify({ result }));
if (name === "recorded" && call.reason !== undefined) throw new Error(`the step is not replayed: ${call.reason}`);
for await (const _ of createInterface(process.stdin)) console.log(JSON.stringify(await measure()));
await mesh.end();
await procs.stop();
