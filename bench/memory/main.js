/**
 * `npm run bench:memory`: what an actor costs, what an idle process costs, and what a fast sender costs that floods a
 * slow receiver. Bytes after a garbage collection; each row is a run in processes of its own.
 */
import { fileURLToPath } from "node:url";
import { benchmark, compare, runJson, takeTurns } from "../harness/index.js";
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
        { metric: "child", title: "bytes per actor, where it lives" },
        { metric: "driver", title: "bytes per actor, at its owner" },
        { metric: "us", title: "us per actor, spawned and answered" },
      ],
    }),
    await section(context, {
      title: `${quick ? "100" : "2,000"} inline processes, each linked to the root`,
      count: quick ? 100 : 2000,
      kinds: { viceroy: "inline" },
      columns: [
        { metric: "heap", title: "bytes per process: its agent, one actor, both ends of a link" },
        { metric: "us", title: "us per process, spawned and answered" },
      ],
    }),
    await section(context, {
      title: "Idle process",
      count: quick ? 2 : 8,
      kinds: { "fork, empty script": "fork", viceroy: "procs" },
      reference: "fork, empty script",
      columns: [
        { metric: "unshared", title: "MiB of its own", ratio: true },
        { metric: "resident", title: "MiB resident" },
      ],
    }),
    await section(context, {
      title: `Flood: ${quick ? "20,000" : "300,000"} records to a receiver that is slower than the sender`,
      count: quick ? 20_000 : 300_000,
      kinds: { "process.send, advanced": "flood-ipc", "viceroy, awaiting Sent": "flood" },
      reference: "process.send, advanced",
      columns: [
        { metric: "driver", title: "MiB more at the sender, at most", ratio: true },
        { metric: "child", title: "MiB more at the receiver, at most", ratio: true },
        { metric: "k", title: "k messages/s" },
      ],
    }),
  ];
});

async function section({ options, wanted }, { title, count, kinds, reference, columns }) {
  const subjects = Object.entries(kinds)
    .filter(([name]) => wanted(name))
    .map(([name, kind]) => ({ name, run: () => runJson([process.execPath, driver, kind, String(count)]) }));
  const samples = await takeTurns(subjects, options);
  return { title, samples, table: compare(samples, { reference, columns, subject: "what" }) };
}
