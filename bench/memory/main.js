/**
 * `npm run bench:memory`: the memory of an actor, of an idle process, and of a fast sender that floods a slow receiver. Sizes are
 * taken after a garbage collection. Each row is a run in processes of its own.
 */
import { fileURLToPath } from "node:url";
import { benchmark, compare, runInterleaved, runJson } from "../harness/index.js";
import { prepareProgram } from "../viceroy/prepare.js";

const driver = fileURLToPath(new URL("driver.js", import.meta.url));

await benchmark({ name: "memory", title: "Memory", rounds: 3, needs: ["viceroy"] }, async (context) => {
  if (context.wanted("viceroy")) await prepareProgram();
  const { quick } = context.options;
  return [
    await section(context, {
      title: `${quick ? "2,000" : "100,000"} actors in one process`,
      count: quick ? 2000 : 100_000,
      kinds: { "plain object": "objects", viceroy: "actors" },
      reference: "plain object",
      columns: [
        { metric: "child", title: "bytes per actor, in its process" },
        { metric: "driver", title: "bytes per actor, in its owner's process" },
        { metric: "us", title: "us per actor, to spawn and call" },
      ],
    }),
    await section(context, {
      title: `${quick ? "100" : "2,000"} inline processes, each linked to the root`,
      count: quick ? 100 : 2000,
      kinds: { viceroy: "inline" },
      columns: [
        { metric: "heap", title: "bytes per process: agent, one actor, both ends of a link" },
        { metric: "us", title: "us per process, to spawn and call" },
      ],
    }),
    await section(context, {
      title: "Idle process",
      count: quick ? 2 : 8,
      kinds: { "fork, empty script": "fork", viceroy: "procs" },
      reference: "fork, empty script",
      columns: [
        { metric: "unshared", title: "MiB not shared", ratio: true },
        { metric: "resident", title: "MiB resident" },
      ],
    }),
    await section(context, {
      title: `Flood: ${quick ? "20,000" : "300,000"} records to a receiver that is slower than the sender`,
      count: quick ? 20_000 : 300_000,
      kinds: { "process.send, advanced": "flood-ipc", "viceroy, awaiting Sent": "flood" },
      reference: "process.send, advanced",
      columns: [
        { metric: "driver", title: "MiB added at the sender, maximum", ratio: true },
        { metric: "child", title: "MiB added at the receiver, maximum", ratio: true },
        { metric: "k", title: "k messages/s" },
      ],
    }),
  ];
});

async function section({ options, wanted }, { title, count, kinds, reference, columns }) {
  const subjects = Object.entries(kinds)
    .filter(([name]) => wanted(name))
    .map(([name, kind]) => ({ name, run: () => runJson([process.execPath, driver, kind, String(count)]) }));
  const samples = await runInterleaved(subjects, options);
  return { title, samples, table: compare(samples, { reference, columns, subject: "subject" }) };
}
