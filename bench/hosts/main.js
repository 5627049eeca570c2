/**
 * `npm run bench:hosts`: calls to a process on another host, over TCP and over TLS 1.3 with certificates on both sides:
 * the record of bench:rpc in both directions, and pieces of 1 MiB. The host is a network namespace behind a virtual wire where
 * that is possible (it requires root), and this machine's loopback otherwise.
 */
import path from "node:path";
import { fileURLToPath } from "node:url";
import { benchmark, compare, runInterleaved, runJson } from "../harness/index.js";
import { prepareProgram } from "../viceroy/prepare.js";
import { makeCertificates } from "./certificates.js";
import { otherHost } from "./other-host.js";

const client = fileURLToPath(new URL("client.js", import.meta.url));
const reference = "limit";
const columns = [
  { metric: "p50", title: "p50 us", ratio: true },
  { metric: "p99", title: "p99 us", ratio: true },
  { metric: "k64", title: "k calls/s, 64 in flight", ratio: true },
  { metric: "mib", title: "MiB/s in pieces of 1 MiB", ratio: true },
];

await benchmark({ name: "hosts", title: "Calls between hosts", rounds: 3, needs: ["viceroy"] }, async (context) => {
  const { options, workDir, wanted } = context;
  if (wanted("viceroy")) await prepareProgram();
  const host = otherHost();
  try {
    const tls = makeCertificates(path.join(workDir, "certificates"), host.address);
    const profile = options.quick ? { warmUp: 150, window: 200 } : { warmUp: 700, window: 700 };
    const sections = [];
    for (const [title, files] of [
      ["TCP", undefined],
      ["TLS 1.3", tls],
    ]) {
      const subjects = ["limit", "viceroy", "grpc-js"].filter(wanted).map((name) => ({
        name,
        run: () => runJson([process.execPath, client, name, JSON.stringify({ ...host, tls: files, ...profile })]),
      }));
      const samples = await runInterleaved(subjects, options);
      sections.push({ title: `${title}, ${host.name}`, samples, table: compare(samples, { reference, columns }) });
    }
    return sections;
  } finally {
    host.remove();
  }
});
