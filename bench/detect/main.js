/**
 * `npm run bench:detect`: the time until an owner knows that an actor has failed, a process was killed or a host has fallen silent. Hosts
 * fall silent in a network namespace; without namespaces these rows are missing.
 */
import { fileURLToPath } from "node:url";
import { benchmark, compare, runInterleaved, runJson } from "../harness/index.js";
import { otherHost } from "../hosts/other-host.js";
import { prepareProgram } from "../viceroy/prepare.js";

const driver = fileURLToPath(new URL("driver.js", import.meta.url));
const columns = [
  { metric: "median", title: "ms, median" },
  { metric: "maximum", title: "ms, maximum" },
];

await benchmark({ name: "detect", title: "Failures", rounds: 3, needs: ["viceroy"] }, async ({ options, wanted }) => {
  await prepareProgram();
  const host = otherHost();
  host.remove();
  const times = options.quick ? 3 : 20;
  const kinds = {
    "an actor fails": ["actor", times],
    "a process is killed": ["process", times],
    ...(host.cut !== undefined && {
      "a host is silent, 2,500 ms (default)": ["host", 3, 2500],
      "a host is silent, 300 ms": ["host", 3, 300],
    }),
  };
  const subjects = Object.entries(kinds)
    .filter(([name]) => wanted(name))
    .map(([name, args]) => ({ name, run: () => runJson([process.execPath, driver, ...args.map(String)]) }));
  const samples = await runInterleaved(subjects, options);
  return [
    { title: "From the failure to its owner", samples, table: compare(samples, { columns, subject: "failure" }) },
  ];
});
