/**
 * `npm run bench:rdma`: transfers bytes of another process, by RdmaBuffers and by other methods, each interleaved with a copy within one
 * process. Also measures the cost of a handle, and several readers of one owner.
 */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { benchmark, compare, runInterleaved, runJson, setUpAddon } from "../harness/index.js";
import { prepareProgram } from "../viceroy/prepare.js";

const here = (file) => fileURLToPath(new URL(file, import.meta.url));
/** `vm` with all memory in huge pages, that of the copy as well. */
const HUGE = "vm on huge pages";
const sizes = { "4 KiB": 2 ** 12, "64 KiB": 2 ** 16, "1 MiB": 2 ** 20, "64 MiB": 2 ** 26, "1 GiB": 2 ** 30 };
const names = ["shared", "vm", HUGE, "stream", "call", "socket", "process-send", "grpc-js"];
/** Methods that can transfer 1 GiB at once: messages of all others are shorter. */
const withoutSizeLimit = ["shared", "vm", HUGE, "stream", "socket"];

const columns = [
  { metric: "speed", title: "GB/s", ratio: true },
  { metric: "ofMemcpy", title: "x memcpy, interleaved" },
  { metric: "us", title: "us" },
];

/** Returns whether programs can request huge pages. */
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
      .filter((name) => wanted(name) && (size < 2 ** 30 || withoutSizeLimit.includes(name)))
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
    const samples = await runInterleaved(subjects, options);
    sections.push({ title, samples, table: compare(samples, { reference: "grpc-js", columns, subject: "method" }) });
  }
  sections.push(
    await compareSubjects("Cost of a handle", ["call", "handle"], { metric: "us", title: "us", ratio: true }),
  );
  sections.push(
    await compareSubjects("Readers of one owner", ["readers-1", "readers-8"], {
      metric: "speed",
      title: "GB/s of all readers",
      ratio: true,
    }),
  );
  return sections.filter((section) => section !== undefined);

  async function compareSubjects(title, names, column) {
    const subjects = names
      .filter(wanted)
      .map((name) => ({ name, run: () => runJson([process.execPath, here("handles-and-readers.js"), name, ms]) }));
    if (subjects.length === 0) return undefined;
    const samples = await runInterleaved(subjects, options);
    return { title, samples, table: compare(samples, { reference: names[0], columns: [column], subject: "subject" }) };
  }
});
