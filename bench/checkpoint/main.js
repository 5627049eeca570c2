/**
 * `npm run bench:checkpoint`: a checkpoint of a state of 64 MiB. The time for which the actor is stopped is compared with one copy
 * of the same bytes in its process, both with a process that shares memory and with one that does not, and the store of files with a plain write of the same bytes, both until they have reached the
 * disk. The subjects of a round follow each other. `VICEROY_BENCH_DISK` names a folder on the disk to measure.
 */
import { benchmark, compare, quantile, setUpAddon } from "../harness/index.js";
import { cpuTimes, foreignLoad } from "../harness/machine.js";
import { loadDepot, prepareProgram } from "../viceroy/prepare.js";

const copy = "one copy of the bytes";
const plain = "write and fsync of the bytes";

await benchmark({ name: "checkpoint", title: "Checkpoints", rounds: 9, needs: ["viceroy"] }, async ({ options }) => {
  setUpAddon("rdma");
  // Benchmarks use sockets otherwise.
  process.env["VICEROY_LINKS"] = "memory";
  await prepareProgram();
  const { spawnDepot } = await loadDepot();
  const before = cpuTimes();
  const bytes = (options.quick ? 4 : 64) * 1024 * 1024;
  const depot = await spawnDepot(bytes, "memory");
  const remote = await spawnDepot(bytes, "socket");
  const stopped = ["the actor is stopped", "the actor is stopped, without shared memory"];
  const whole = ["checkpoint in memory, in all", "the same, without shared memory"];
  const memory = new Map([copy, stopped[0], whole[0], stopped[1], whole[1]].map((name) => [name, []]));
  const files = new Map([plain, "the same, and a rename", "store of files"].map((name) => [name, []]));
  const writes = ["plainFile", "replacedFile", "file"];
  try {
    await depot.memory();
    await remote.memory();
    for (const kind of writes) await depot[kind]();
    for (let round = 0; round < options.rounds; round++) {
      const runs = [[], []];
      // Copies and writes vary by the state of the memory and the disk, so that a round takes the median of several.
      for (let i = 0; i < (options.quick ? 1 : 3); i++) {
        for (const [at, each] of [depot, remote].entries()) runs[at].push(await each.memory());
      }
      const middle = (of, metric) =>
        quantile(
          of.map((run) => run[metric]),
          0.5,
        );
      memory.get(copy).push({ ms: middle(runs.flat(), "copy") });
      for (const [at, of] of runs.entries()) {
        memory.get(stopped[at]).push({ ms: middle(of, "stopped") });
        memory.get(whole[at]).push({ ms: middle(of, "total") });
      }
      const took = Object.fromEntries(writes.map((kind) => [kind, []]));
      for (let i = 0; i < (options.quick ? 1 : 3); i++) {
        for (const kind of (round + i) % 2 === 0 ? writes : writes.toReversed()) took[kind].push(await depot[kind]());
      }
      for (const [i, samples] of [...files.values()].entries()) samples.push({ ms: quantile(took[writes[i]], 0.5) });
      process.stderr.write(`round ${round + 1}/${options.rounds}\n`);
    }
  } finally {
    await depot.stop();
    await remote.stop();
  }
  // The process of the actor has ended, so its processor time counts as that of this program.
  const foreign = foreignLoad(before, cpuTimes());
  for (const sample of [...memory.values(), ...files.values()].flat()) sample.foreign = foreign;
  const columns = [{ metric: "ms", title: "ms", ratio: true }];
  const size = `${bytes / 1024 / 1024} MiB`;
  return [
    {
      title: `A checkpoint of ${size} in the memory of the owner`,
      samples: memory,
      table: compare(memory, { reference: copy, columns, subject: "time" }),
    },
    {
      title: `A checkpoint of ${size} in a file`,
      samples: files,
      table: compare(files, { reference: plain, columns, subject: "time" }),
    },
  ];
});
