/**
 * `node bench/tensor/cuda/main.js`: whether operations on a graphics processor have the results that they have on the processor, and how fast they are
 * beside PyTorch. It needs a device of CUDA, and the addon built with the libtorch of that PyTorch (`VICEROY_LIBTORCH`, `viceroy setup --tensor`).
 * The parts are independent: each prints a line, and a part that fails does not stop the next one.
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { thisHost } from "../../../dist/index.js";
import { grad, inspect, libtorch, manualSeed, nccl, noGrad, tensor, torch } from "../../../dist/tensor.js";

/** The device; `cpu` shows whether this program itself is right. */
const deviceName = process.argv[2] ?? "cuda";
const failures = [];
async function part(name, run) {
  try {
    console.log(`ok: ${name}${format(await run())}`);
  } catch (error) {
    failures.push(name);
    console.log(`FAILED: ${name}: ${error.stack ?? error}`);
  }
}

const format = (text) => (text === undefined ? "" : `: ${text}`);

/** Returns the largest difference of two tensors of this process, relative to the largest element. */
function difference(left, right) {
  const [a, b] = [left, right].map((t) => Float64Array.from(t.to("float64").data(), Number));
  if (a.length !== b.length) throw new Error(`expected ${b.length} elements, got ${a.length}`);
  const largest = b.reduce((most, x) => Math.max(most, Math.abs(x)), 1e-12);
  return a.reduce((most, x, i) => Math.max(most, Math.abs(x - b[i])), 0) / largest;
}

/** The operations, each of a tensor of 64 x 64 elements that all devices have. */
const operations = {
  matmul: (x) => x.matmul(x.t()),
  softmax: (x) => x.softmax(1),
  "layer norm": (x) => torch.layer_norm(x, [64]),
  convolution: (x) => torch.conv2d(x.reshape([1, 1, 64, 64]), x.slice(0, 0, 3).slice(1, 0, 3).reshape([1, 1, 3, 3])),
  sort: (x) => x.sort(1)[0],
  "index select": (x) => x.index_select(0, tensor([3n, 1n, 60n])),
  "in place": (x) => x.clone().mul_(2).add_(1),
  view: (x) => x.t().contiguous().slice(0, 3, 9),
  gelu: (x) => torch.gelu(x),
  "cumulative sum": (x) => x.cumsum(0),
  where: (x) => torch.where(x.gt(0), x, x.mul(0.1)),
  einsum: (x) => torch.einsum("ij,kj->ik", [x, x]),
  "matrix exponential": (x) => torch.linalg_matrix_exp(x.mul(0.01)),
  solve: (x) => torch.linalg_solve(x.matmul(x.t()).add(torch.eye(64).mul(64)), x),
};

/** Runs a function with processes that end afterwards. */
async function withProcs(gpus, run, env = {}) {
  const started = thisHost().spawnProcs({ gpus }, { name: "further", env });
  try {
    return await run(started);
  } finally {
    await started.stop();
  }
}

async function onDevice(procs, device, call) {
  return procs.activate(async () => inspect(call()), { device });
}

const versions = libtorch();
console.log(`libtorch ${versions.torch}, ${versions.file}`);
const procs = thisHost().spawnProcs({ gpus: 1 }, { name: "cards" });
const values = Array.from({ length: 64 * 64 }, (_, i) => Math.sin(i * 12.9898) * 0.5);
const made = () => tensor(values, { shape: [64, 64] });

for (const [name, operation] of Object.entries(operations)) {
  await part(`${name} is that of the processor`, async () => {
    const [cpu, card] = [
      await onDevice(procs, "cpu", () => operation(made())),
      await onDevice(procs, deviceName, () => operation(made())),
    ];
    const found = difference(card, cpu);
    if (!(found < 1e-3)) throw new Error(`they differ by ${found}`);
    return `they differ by ${found.toExponential(1)}`;
  });
}

await part("gradients are those of the processor", async () => {
  const gradients = (device) =>
    procs.activate(
      async () => {
        const x = tensor(values, { shape: [64, 64], requiresGrad: true });
        const loss = torch.gelu(x.matmul(x.t())).softmax(1).mul(x).sum();
        const [first] = grad(loss, [x], { createGraph: true });
        const [second] = grad(first.mul(first).sum(), [x]);
        return [await inspect(first), await inspect(second)];
      },
      { device },
    );
  const [cpu, card] = [await gradients("cpu"), await gradients(deviceName)];
  const found = Math.max(...cpu.map((each, i) => difference(card[i], each)));
  if (!(found < 1e-2)) throw new Error(`they differ by ${found}`);
  return `first and second order differ by ${found.toExponential(1)}`;
});

await part("a model learns", () =>
  procs.activate(
    async () => {
      manualSeed(7);
      const x = torch.randn([256, 16]);
      const target = x.matmul(torch.randn([16, 1])).tanh();
      const lossOf = ([first, second]) => x.matmul(first).tanh().matmul(second).sub(target).square().mean();
      let weights = [torch.randn([16, 32]).mul(0.2), torch.randn([32, 1]).mul(0.2)];
      const before = (await inspect(lossOf(weights))).item();
      for (let step = 0; step < 200; step++) {
        const now = weights.map((w) => w.detach());
        for (const w of now) w.requiresGrad = true;
        const gradients = grad(lossOf(now), now);
        weights = noGrad(() => now.map((w, i) => w.sub(gradients[i].mul(0.1))));
        // What was recorded is sent.
        await undefined;
      }
      const after = (await inspect(lossOf(weights))).item();
      if (!(after < before / 4)) throw new Error(`the loss is ${before} at first, and ${after} at the end`);
      return `the loss falls from ${before.toFixed(3)} to ${after.toFixed(4)}`;
    },
    { device: deviceName },
  ),
);

await part("the same seed gives the same numbers", async () => {
  const drawn = () =>
    onDevice(procs, deviceName, () => {
      manualSeed(3);
      return torch.randn([1000]);
    });
  const [first, second] = [await drawn(), await drawn()];
  if (difference(first, second) !== 0) throw new Error("they differ");
});

for (const dtype of ["float16", "bfloat16", "float64", "int64", "bool"]) {
  await part(`elements of ${dtype} come back`, async () => {
    const [cpu, card] = await Promise.all(
      ["cpu", deviceName].map((device) => onDevice(procs, device, () => torch.arange(0, 100).to(dtype))),
    ).catch(async () => [
      await onDevice(procs, "cpu", () => torch.arange(0, 100).to(dtype)),
      await onDevice(procs, deviceName, () => torch.arange(0, 100).to(dtype)),
    ]);
    if (Buffer.compare(Buffer.from(cpu.data().buffer), Buffer.from(card.data().buffer)) !== 0)
      throw new Error("they differ");
  });
}

// A processor without enough memory would end the process.
if (deviceName !== "cpu") {
  await part("a tensor that is too large is an error, and the process goes on", async () => {
    const refused = await onDevice(procs, deviceName, () => torch.empty([2 ** 40]).slice(0, 0, 1)).then(
      () => "nothing",
      (error) => error.message,
    );
    if (!/memory/i.test(refused)) throw new Error(`expected an error about memory, got ${refused}`);
    await onDevice(procs, deviceName, () => torch.ones([2]));
    return refused.split("\n")[0].slice(0, 160);
  });
}

/** @param env of the two processes */
const exchanged = (env) =>
  withProcs(
    2,
    async (pair) => {
      const device = deviceName === "cpu" ? "cpu" : "cuda:0";
      const add = () =>
        pair
          .rank("gpus")
          .add(torch.ones([4]))
          .reduce("gpus", "sum");
      const sum = await pair.activate(async () => inspect(add()), { device });
      if (sum.toArray().join() !== "3,3,3,3") throw new Error(`got ${sum.toArray()}`);
    },
    env,
  );
await part("two processes exchange elements on one device, through the memory of the processor", () =>
  exchanged({ VICEROY_NCCL: "off" }),
);
// NCCL wants a device for each process.
if (deviceName !== "cpu") {
  await part("NCCL refuses two processes on one device, with its reason", () =>
    exchanged({}).then(
      () => Promise.reject(new Error("nothing was refused")),
      (error) => {
        if (!/Duplicate GPU/.test(error.message)) throw error;
        return error.message.split("NCCL", 2)[1]?.slice(0, 120);
      },
    ),
  );
}

await part("NCCL", () => JSON.stringify(nccl()));

await part("an index out of range is reported", () =>
  withProcs(1, (lost) =>
    onDevice(lost, deviceName, () => torch.ones([4]).index_select(0, tensor([7n]))).then(
      () => Promise.reject(new Error("nothing was reported")),
      (error) => error.message.split("\n")[0].slice(0, 200),
    ),
  ),
);

/** Returns seconds for one of many equal operations. */
async function timed(size, dtype, times, operation) {
  const mesh = procs.activate({ device: deviceName });
  const x = mesh.run(() => torch.randn([size, size]).to(dtype));
  const run = async () => {
    const begin = performance.now();
    for (let i = 0; i < times; i++) operation(x).dispose();
    // The smallest read waits for the device.
    await inspect(mesh.run(() => operation(x).slice(0, 0, 1).slice(1, 0, 1)));
    return (performance.now() - begin) / 1000 / times;
  };
  await run();
  const seconds = [await run(), await run(), await run()].sort((a, b) => a - b)[1];
  x.dispose();
  await mesh.end();
  return seconds;
}

const python = (...args) =>
  JSON.parse(
    execFileSync("python3", [fileURLToPath(new URL("reference.py", import.meta.url)), ...args.map(String)], {
      encoding: "utf8",
    }),
  );

for (const [name, size, dtype, times, operation] of [
  ["products of bfloat16", 8192, "bfloat16", 50, (x) => x.matmul(x)],
  ["products of float32", 4096, "float32", 50, (x) => x.matmul(x)],
  ["small sums", 16, "float32", 20_000, (x) => x.add(x)],
]) {
  await part(name, async () => {
    const own = await timed(size, dtype, times, operation);
    const { seconds } = python(name === "small sums" ? "add" : "matmul", size, dtype, times);
    const rate =
      name === "small sums" ? `${(own * 1e6).toFixed(1)} us` : `${((2 * size ** 3) / own / 1e12).toFixed(1)} TFLOP/s`;
    return `${rate}; PyTorch takes ${(seconds * 1e6).toFixed(1)} us, Viceroy ${(own * 1e6).toFixed(1)} us, ratio ${(own / seconds).toFixed(3)}`;
  });
}

await procs.stop();
console.log(failures.length === 0 ? "all parts are ok" : `failed: ${failures.join(", ")}`);
process.exitCode = failures.length === 0 ? 0 : 1;
