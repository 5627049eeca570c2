/**
 * `own.js <file of a problem> <steps> <memory or tcp>`: trains on a mesh. Prints the losses of the first steps, and for each line that it
 * reads what one of so many steps has taken: milliseconds, those of processors in all its processes and in the controller, and the bytes
 * that the controller has sent.
 */
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setImmediate as turn } from "node:timers/promises";
import { thisHost } from "../../../dist/index.js";
import { inspect, nn, optim, shard, TensorScope, tensor, torch } from "../../../dist/tensor.js";
import { cpuSeconds, descendants } from "../../harness/machine.js";

const [file, stepsText, way] = process.argv.slice(2);
const steps = Number(stepsText);
const env = way === "tcp" ? { VICEROY_TENSOR_LINES: "tcp", VICEROY_TENSOR_ADDRESS: "127.0.0.1" } : {};
const { layers, optimizer: kind, batch, batches, ranks, floats } = JSON.parse(readFileSync(file, "utf8"));

/** Bytes that this process has written, to whatever: its links are sockets. */
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
    const made = new nn.Linear(inputs, outputs);
    made.loadStateDict({ weight: tensor(...take(outputs, inputs)), bias: tensor(...take(outputs)) });
    return made;
  };
  const all = layers.slice(1).map((outputs, i) => linear(layers[i], outputs));
  const model = new nn.Sequential(...all.flatMap((layer, i) => (i === 0 ? [layer] : [torch.relu, layer])));
  const rows = shard(...cut(take(ranks * batches, batch, layers[0])));
  const classes = shard(...cut(take(ranks * batches, batch))).to({ dtype: "int64" });
  const optimizer =
    kind === "SGD"
      ? new optim.SGD(model.parameters(), { lr: 0.05, momentum: 0.9 })
      : new optim.AdamW(model.parameters(), { lr: 1e-3 });
  return { model, optimizer, rows, classes };
}

/** Arguments of `shard`: dimension 0 along the mesh. */
function cut([values, options]) {
  return [values, { ranks: 0 }, options];
}

/** @returns the loss before it, on each rank of its own rows */
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

const processes = () => descendants(process.pid).reduce((sum, pid) => sum + cpuSeconds(pid), cpuSeconds(process.pid));

async function measure() {
  const before = { at: performance.now(), cpu: processes(), own: process.cpuUsage(), written: written() };
  for (let i = 0; i < steps; i++) {
    step(i).dispose();
    // What has been recorded is sent while the next step is.
    await turn();
  }
  await mesh.finish();
  const ms = (performance.now() - before.at) / steps;
  const { user, system } = process.cpuUsage(before.own);
  return {
    ms,
    cpu: ((processes() - before.cpu) * 1000) / steps,
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
