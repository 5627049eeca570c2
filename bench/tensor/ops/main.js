/**
 * `npm run bench:tensor`: what one operation costs: a sum of tensors of 2x2 in this process, recorded for a mesh, and by Python's torch,
 * where it is installed (`apt-get install python3-torch`); and the product of matrices of 1024x1024, beside numpy.
 */
import { execFileSync, spawnSync } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { benchmark, compare, repository, setUpAddon, startAnswering, takeWindows } from "../../harness/index.js";

const here = (file) => fileURLToPath(new URL(file, import.meta.url));
/** Another Python may stand before the system's, for which Debian's packages are. */
const pythonWith = (module) =>
  ["python3", "/usr/bin/python3"].find((python) => spawnSync(python, ["-c", `import ${module}`]).status === 0);

await benchmark({ name: "tensor", title: "Operations on tensors", rounds: 5 }, async ({ options, wanted }) => {
  execFileSync(process.execPath, [path.join(repository, "build.mjs")], { stdio: ["ignore", "ignore", "inherit"] });
  setUpAddon("tensor");
  const own = (what) => [process.execPath, here("own.js"), what];
  const python = (what, module) => {
    const found = pythonWith(module);
    if (found === undefined) console.error(`skipped: python3 has no ${module}`);
    return found === undefined ? {} : { [`python3 ${module}`]: [found, here("peer.py"), what] };
  };
  const section = async (title, commands, reference, metric, unit) => {
    const subjects = Object.entries(commands)
      .filter(([name]) => wanted(name))
      .map(([name, command]) => ({ name, start: () => live(command, metric) }));
    const samples = await takeWindows(subjects, { ...options, windows: options.quick ? 2 : 7 });
    const columns = [{ metric, title: unit, ratio: true }];
    return { title, samples, table: compare(samples, { reference, columns, subject: "way" }) };
  };
  const sums = { "viceroy, here": own("add"), "viceroy, recorded": own("record"), ...python("add", "torch") };
  const products = { "viceroy, here": own("matmul"), ...python("matmul", "numpy") };
  return [
    await section("a sum of 2x2, with its end", sums, "viceroy, here", "us", "us of processor"),
    await section("a product of 1024x1024, one thread", products, "viceroy, here", "ms", "ms of processor"),
  ];
});

async function live(command, metric) {
  const { ask, stop } = await startAnswering(["env", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", ...command]);
  return { metrics: [metric], constants: {}, measure: async () => (await ask("again"))[metric], stop };
}
