/**
 * `viceroy.js <problem file> <steps> <memory or tcp>`: trains on a mesh. Prints the losses of the first steps. Then, for each input line, runs
 * `steps` steps and prints averages for one step: wall-clock ms, ms of processor time of all processes and of the controller, and the bytes
 * that the controller has sent.
 */
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setImmediate as turn } from "node:timers/promises";
import { thisHost } from "../../../dist/index.js";
import { inspect, nn, optim, shard, TensorScope, tensor, torch } from "../../../dist/tensor.js";
import { cpuSeconds, descendants } from "../../harness/machine.js";

const [file, stepsText, transport] = process.argv.slice(2);
const steps = Number(stepsText);
const env = transport === "tcp" ? { VICEROY_TENSOR_LINES: "tcp", VICEROY_TENSOR_ADDRESS: "127.0.0.1" } : {};
const { layers, optimizer: kind, batch, batches, ranks, floats } = JSON.parse(readFileSync(file, "utf8"));

/** Bytes that this process has written. Its links are sockets, so they are included. */
const written = () => Number(/^wchar: (\d+)$/m.exec(readFileSync("/proc/self/io", "latin1"))[1]);

const procs = thisHost().spawnProcs({ ranks }, { env });
const mesh = procs.activate({ threads: 1 });
const { model, optimizer, rows, classes } = mesh.run(load);
const gradients = mesh.run(() => new optim.FlatGradients(model.parameters()));

function load() {
  const { buffer, byteOffset } = readFileSync(floats);
  let at = byteOffset;
  const take = (...shape) => {
    const length = shape.reduce((product, size) => product * size, 1);
    at += 4 * length;
    return [new Float32Array(buffer, at - 4 * length, length), { shape }];
  };
  const linear = (inputs, outputs) => {
    const layer = new nn.Linear(inputs, outputs);
    layer.loadStateDict({ weight: tensor(...take(outputs, inputs)), bias: tensor(...take(outputs)) });
    return layer;
  };
  const all = layers.slice(1).map((outputs, i) => linear(layers[i], outputs));
  const model = new nn.Sequential(...all.flatMap((layer, i) => (i === 0 ? [layer] : [torch.relu, layer])));
  const rows = shard(...shardArguments(take(ranks * batches, batch, layers[0])));
  const classes = shard(...shardArguments(take(ranks * batches, batch))).to({ dtype: "int64" });
  const optimizer =
    kind === "SGD"
      ? new optim.SGD(model.parameters(), { lr: 0.05, momentum: 0.9 })
      : new optim.AdamW(model.parameters(), { lr: 1e-3 });
  return { model, optimizer, rows, classes };
}

/** The arguments of `shard` that divide dimension 0 along the mesh. */
function shardArguments([values, options]) {
  return [values, { ranks: 0 }, options];
}

/** Trains one step. @returns the loss before the step, on each rank that of its own rows */
function step(i) {
  const scope = new TensorScope();
  try {
    const loss = torch.cross_entropy_loss(model.forward(rows.select(0, i % batches)), classes.select(0, i % batches));
    gradients.zero();
    loss.backward();
    gradients.average("ranks");
    optimizer.step();
    return scope.keep(loss.detach());
  } finally {
    scope.dispose();
  }
}

const cpuOfAll = () => descendants(process.pid).reduce((sum, pid) => sum + cpuSeconds(pid), cpuSeconds(process.pid));

async function measure() {
  const before = { at: performance.now(), cpu: cpuOfAll(), own: process.cpuUsage(), written: written() };
  for (let i = 0; i < steps; i++) {
    step(i).dispose();
    // Lets the event loop send this step while the next one is recorded.
    await turn();
  }
  await mesh.finish();
  const ms = (performance.now() - before.at) / steps;
  const { user, system } = process.cpuUsage(before.own);
  return {
    ms,
    cpu: ((cpuOfAll() - before.cpu) * 1000) / steps,
    controller: (user + system) / 1000 / steps,
    bytes: (written() - before.written) / steps,
  };
}

const losses = [];
for (let i = 0; i < 2 * batches; i++) losses.push(step(i));
const all = await inspect(torch.stack(losses).reduce("ranks", "avg"));
await measure();
console.log(JSON.stringify({ losses: all.toArray() }));
for await (const _ of createInterface(process.stdin)) console.log(JSON.stringify(await measure()));
await mesh.end();
await procs.stop();
