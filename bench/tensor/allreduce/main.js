/**
 * `npm run bench:allreduce`: two processes sum 64 MiB of float32 each: tensors of a mesh, by shared memory and by Gloo over TCP; Gloo's own
 * algorithm by itself; and one copy of as many bytes, which is the limit of the memory.
 */
import { execFileSync } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { benchmark, compare, measureInterleaved, repository, setUpAddon, startAnswering } from "../../harness/index.js";

const here = (file) => fileURLToPath(new URL(file, import.meta.url));

await benchmark({ name: "allreduce", title: "All-reduce", rounds: 5 }, async ({ options, workDir, wanted }) => {
  execFileSync(process.execPath, [path.join(repository, "build.mjs")], { stdio: ["ignore", "ignore", "inherit"] });
  setUpAddon("tensor");
  const limits = path.join(workDir, "limits");
  execFileSync("g++", ["-O3", "-march=native", "-std=c++17", here("limits.cc"), "-o", limits, "-lgloo", "-lpthread"], {
    stdio: "inherit",
  });
  const repeats = "10";
  let count = 0;
  const commands = {
    "viceroy, memory": () => [process.execPath, here("mesh.js"), "memory", repeats],
    "viceroy, TCP": () => [process.execPath, here("mesh.js"), "tcp", repeats],
    "gloo, TCP": () => [limits, "gloo", repeats, path.join(workDir, `store-${process.pid}-${++count}`)],
    memcpy: () => [limits, "memcpy", repeats],
  };
  const subjects = Object.entries(commands)
    .filter(([name]) => wanted(name))
    .map(([name, command]) => ({ name, start: () => startSubject(command()) }));
  const samples = await measureInterleaved(subjects, { ...options, windows: options.quick ? 2 : 7 });
  const columns = [{ metric: "ms", title: "ms", ratio: true }];
  return [
    {
      title: "64 MiB of float32, two processes",
      samples,
      table: compare(samples, { reference: "gloo, TCP", columns, subject: "method" }),
    },
    {
      title: "64 MiB of float32, relative to one copy",
      samples,
      table: compare(samples, { reference: "memcpy", columns, subject: "method" }),
    },
  ];
});

async function startSubject(command) {
  const { ask, stop } = await startAnswering(command);
  return {
    metrics: ["ms"],
    constants: {},
    measure: async () => (await ask("again")).ms,
    stop,
  };
}
