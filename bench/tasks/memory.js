/** Takes the memory of a program that runs a million tasks, in tenths of the run. */
import { fileURLToPath } from "node:url";
import { runInterleaved, runJson } from "../harness/index.js";
import { markdown, number } from "../harness/table.js";

const driver = fileURLToPath(new URL("million-driver.js", import.meta.url));
const name = "viceroy, a million";

export async function measureMemory({ options, wanted }) {
  if (!wanted(name)) return [];
  const tasks = options.quick ? 20_000 : 1_000_000;
  let tenths;
  const run = async () => {
    ({ tenths } = await runJson([process.execPath, driver, String(tasks)]));
    return { growth: tenths.at(-1).heap / tenths[1].heap };
  };
  // Once: the ten readings of one program are what is compared.
  const samples = await runInterleaved([{ name, run }], { ...options, rounds: 1 });
  const [{ growth }] = samples.get(name);
  const rows = tenths.map(({ heap, resident, rate }, i) => [
    `${((i + 1) * tasks) / 10}`,
    number(heap / 2 ** 20, 2),
    number(resident / 2 ** 20, 0),
    number(rate / 1000),
  ]);
  const table = markdown(["tasks that have ended", "MiB of heap", "MiB resident", "k tasks/s"], rows);
  const verdict = `The heap after the last tenth is ${number(growth, 2)}x that after the second.`;
  return [{ title: `${tasks.toLocaleString("en")} tasks by one program`, samples, table, notes: [verdict] }];
}
