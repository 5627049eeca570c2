/**
 * `npm run bench:tensor`: the processor time of one operation. A sum of 2x2 tensors in this process, recorded for a mesh, and by Python's
 * torch where it is installed (`apt-get install python3-torch`); and a product of 1024x1024 matrices, compared with numpy.
 */
import { execFileSync, spawnSync } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { benchmark, compare, measureInterleaved, repository, setUpAddon, startAnswering } from "../../harness/index.js";

const here = (file) => fileURLToPath(new URL(file, import.meta.url));
/** PATH may contain another Python before the system's, for which Debian's packages are made. */
const pythonWith = (module) =>
  ["python3", "/usr/bin/python3"].find((python) => spawnSync(python, ["-c", `import ${module}`]).status === 0);

await benchmark({ name: "tensor", title: "Operations on tensors", rounds: 5 }, async ({ options, wanted }) => {
  execFileSync(process.execPath, [path.join(repository, "build.mjs")], { stdio: ["ignore", "ignore", "inherit"] });
  setUpAddon("tensor");
  const viceroy = (operation) => [process.execPath, here("viceroy.js"), operation];
  const python = (operation, module) => {
    const found = pythonWith(module);
    if (found === undefined) console.error(`skipped: python3 has no ${module}`);
    return found === undefined ? {} : { [`python3 ${module}`]: [found, here("python.py"), operation] };
  };
  const section = async (title, commands, reference, metric, unit) => {
    const subjects = Object.entries(commands)
      .filter(([name]) => wanted(name))
      .map(([name, command]) => ({ name, start: () => startSubject(command, metric) }));
    const samples = await measureInterleaved(subjects, { ...options, windows: options.quick ? 2 : 7 });
    const columns = [{ metric, title: unit, ratio: true }];
    return { title, samples, table: compare(samples, { reference, columns, subject: "implementation" }) };
  };
  const sums = { "viceroy, local": viceroy("add"), "viceroy, recorded": viceroy("record"), ...python("add", "torch") };
  const products = { "viceroy, local": viceroy("matmul"), ...python("matmul", "numpy") };
  return [
    await section("Sum of 2x2 tensors, and release of the result", sums, "viceroy, local", "us", "us CPU"),
    await section("Product of 1024x1024 matrices, one thread", products, "viceroy, local", "ms", "ms CPU"),
  ];
});

async function startSubject(command, metric) {
  const { ask, stop } = await startAnswering(["env", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", ...command]);
  return { metrics: [metric], constants: {}, measure: async () => (await ask("again"))[metric], stop };
}
