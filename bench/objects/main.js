/**
 * `npm run bench:objects`: large values of tasks. A value of 64 MiB is put, got, got again and again, read by eight tasks, and
 * returned by a task: in the memory of the machine, without it, and by Ray. The limit is one copy of the bytes into new shared memory, in the
 * same process. Also a number, which is put and got.
 */
import { fileURLToPath } from "node:url";
import { benchmark, compare, runInterleaved, runJson, setUpAddon } from "../harness/index.js";
import { isolated } from "../monarch/isolated.js";
import { preparePython } from "../monarch/python.js";

const reference = "one copy into new shared memory";
const here = (file) => fileURLToPath(new URL(file, import.meta.url));

const putColumns = [{ metric: "put", title: "ms", ratio: true }];
const columns = [
  { metric: "get", title: "ms, first get", ratio: true },
  { metric: "again", title: "us, second get", ratio: true },
  { metric: "row", title: "us, 100 more gets, each", ratio: true },
  { metric: "tasks", title: "ms, 8 tasks read it", ratio: true },
  { metric: "result", title: "ms, a task returns it", ratio: true },
  { metric: "number", title: "us, put and get a number", ratio: true },
];

await benchmark({ name: "objects", title: "Large values of tasks", rounds: 5, needs: ["viceroy"] }, async (context) => {
  const { options, workDir, wanted } = context;
  setUpAddon("rdma");
  const profile = JSON.stringify({ bytes: (options.quick ? 4 : 64) * 2 ** 20, repeats: options.quick ? 2 : 11 });
  const command = [process.execPath, here("driver.js"), profile];
  const run = (line, env) => () => runJson(isolated(line), { env });
  const subjects = [
    { name: "viceroy", run: run(command, { VICEROY_LINKS: "memory" }) },
    { name: "viceroy, without the addon", run: run(command, { VICEROY_LINKS: "socket" }) },
  ];
  const notes = [];
  if (wanted("ray")) {
    const { python, versions } = preparePython();
    notes.push(versions);
    subjects.push({ name: "ray", run: run([python, here("python/ray_objects.py"), profile], { RAY_TMPDIR: workDir }) });
  }
  const samples = await runInterleaved(
    subjects.filter(({ name }) => wanted(name)),
    options,
  );
  // The copy was made in the process that has put the value, between two puts.
  const copies = samples.get("viceroy").map(({ copy, ...rest }) => ({ ...rest, put: copy }));
  const puts = new Map([[reference, copies], ...samples]);
  const size = options.quick ? "4 MiB" : "64 MiB";
  return [
    {
      title: `Put ${size}`,
      samples: puts,
      table: compare(puts, { reference, columns: putColumns, subject: "values" }),
      notes,
    },
    {
      title: `Read ${size}, and small values`,
      samples,
      table: compare(samples, { reference: "viceroy", columns, subject: "values" }),
    },
  ];
});
