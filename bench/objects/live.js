/**
 * `npm run bench:objects-live`: the memory of references that a program keeps. 100,000 numbers are put, or are results of tasks; then a task
 * keeps all references, so that its process borrows the values. The limit is an array of records with a number and the encoded value.
 */
import { fileURLToPath } from "node:url";
import { benchmark, compare, runInterleaved, runJson } from "../harness/index.js";

const driver = fileURLToPath(new URL("live-driver.js", import.meta.url));
const kinds = {
  "records with encoded values": "records",
  "values that were put": "put",
  "results of tasks": "results",
  "put, and borrowed by a worker": "borrowed",
};
const columns = [
  { metric: "bytes", title: "bytes per value, at the owner" },
  { metric: "value", title: "of these, the encoded value" },
  { metric: "borrower", title: "bytes per value, at the borrower" },
];

await benchmark(
  { name: "objects-live", title: "References that are kept", rounds: 3, needs: ["viceroy"] },
  async ({ options }) => {
    const count = options.quick ? 2000 : 100_000;
    const subjects = Object.entries(kinds).map(([name, kind]) => ({
      name,
      run: () => runJson([process.execPath, "--expose-gc", driver, kind, String(count)]),
    }));
    const samples = await runInterleaved(subjects, options);
    const table = compare(samples, { reference: "records with encoded values", columns, subject: "values" });
    return [{ title: `${count.toLocaleString("en")} numbers`, samples, table }];
  },
);
