/**
 * `npm run bench:rdma`: bytes of another process, by RdmaBuffers and by what there is otherwise, each in turns with a copy within one
 * process; what a handle costs; and several readers of one owner.
 */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { benchmark, compare, runJson, setUpAddon, takeTurns } from "../harness/index.js";
import { prepareProgram } from "../viceroy/prepare.js";

const here = (file) => fileURLToPath(new URL(file, import.meta.url));
/** `vm` with all memory, also that of the copy it is compared with, in huge pages. */
const HUGE = "vm on huge pages";
const sizes = { "4 KiB": 2 ** 12, "64 KiB": 2 ** 16, "1 MiB": 2 ** 20, "64 MiB": 2 ** 26, "1 GiB": 2 ** 30 };
const names = ["shared", "vm", HUGE, "stream", "call", "socket", "process-send", "grpc-js"];
/** A message has less than 1 GiB, for all of them. */
const unlimited = ["shared", "vm", HUGE, "stream", "socket"];

const columns = [
  { metric: "speed", title: "GB/s", ratio: true },
  { metric: "ofMemcpy", title: "of memcpy, in turns" },
  { metric: "us", title: "us" },
];

/** Whether the system gives them to who asks. */
function hasHugePages() {
  const file = "/sys/kernel/mm/transparent_hugepage/enabled";
  return existsSync(file) && !readFileSync(file, "latin1").includes("[never]");
}

await benchmark({ name: "rdma", title: "One-sided memory", rounds: 3 }, async ({ options, workDir, wanted }) => {
  await prepareProgram();
  setUpAddon("rdma");
  const ms = options.quick ? "50" : "1500";
  const sections = [];
  for (const [title, size] of Object.entries(sizes)) {
    if (options.quick && size > 2 ** 26) continue;
    const subjects = names
      .filter((name) => wanted(name) && (size < 2 ** 30 || unlimited.includes(name)))
      .filter((name) => name !== HUGE || (size >= 2 ** 26 && hasHugePages()))
      .map((name) => ({
        name,
        run: (round) =>
          runJson([
            ...(name === HUGE ? ["env", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"] : []),
            process.execPath,
            here("reader.js"),
            name,
            String(size),
            ms,
            path.join(workDir, `${name}-${round}`),
          ]),
      }));
    if (subjects.length === 0) continue;
    const samples = await takeTurns(subjects, options);
    sections.push({ title, samples, table: compare(samples, { reference: "grpc-js", columns, subject: "way" }) });
  }
  sections.push(await handles("what a handle costs", ["call", "handle"], { metric: "us", title: "us", ratio: true }));
  sections.push(
    await handles("readers of one owner", ["readers-1", "readers-8"], {
      metric: "speed",
      title: "GB/s of all",
      ratio: true,
    }),
  );
  return sections.filter((section) => section !== undefined);

  async function handles(title, all, column) {
    const subjects = all
      .filter(wanted)
      .map((name) => ({ name, run: () => runJson([process.execPath, here("handles.js"), name, ms]) }));
    if (subjects.length === 0) return undefined;
    const samples = await takeTurns(subjects, options);
    return { title, samples, table: compare(samples, { reference: all[0], columns: [column], subject: "what" }) };
  }
});
