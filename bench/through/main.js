/**
 * `npm run bench:through`: calls of a driver that reaches a host through another one, compared with the same driver that reaches it
 * directly, and with a raw socket through a process that copies bytes. The hosts are in a network namespace behind a virtual wire
 * where that is possible (it requires root).
 */
import path from "node:path";
import { fileURLToPath } from "node:url";
import { benchmark, compare, runInterleaved, runJson } from "../harness/index.js";
import { makeCertificates } from "../hosts/certificates.js";
import { otherHost } from "../hosts/other-host.js";
import { prepareProgram } from "../viceroy/prepare.js";

const client = fileURLToPath(new URL("client.js", import.meta.url));
const reference = "bare tunnel";
const columns = [
  { metric: "p50", title: "p50 us", ratio: true },
  { metric: "p99", title: "p99 us", ratio: true },
  { metric: "k1024", title: "k calls/s, 1,024 in flight", ratio: true },
  { metric: "mib", title: "MiB/s, 64 MiB", ratio: true },
];

await benchmark(
  { name: "through", title: "A driver that reaches one host", rounds: 3, needs: ["viceroy"] },
  async (context) => {
    const { options, workDir, wanted } = context;
    await prepareProgram();
    const host = otherHost();
    try {
      const tls = makeCertificates(path.join(workDir, "certificates"), host.address);
      const profile = options.quick ? { warmUp: 300, window: 400 } : { warmUp: 1000, window: 1000 };
      const sections = [];
      for (const [title, files] of [
        ["TCP", undefined],
        ["TLS 1.3 between the driver and the host, and between the driver and the gateway", tls],
      ]) {
        const subjects = [reference, "viceroy, direct", "viceroy, gateway"].filter(wanted).map((name) => ({
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
  },
);
