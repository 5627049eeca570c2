/**
 * Many hosts start over ssh. Several hosts share each machine, by names of their own, and all machines share the processors of this
 * one, so that the slowest host is slower than it would be elsewhere.
 */
import { appendFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { compare, runInterleaved, runJson, startAnswering } from "../harness/index.js";

const here = (file) => fileURLToPath(new URL(file, import.meta.url));
const columns = [
  { metric: "started", title: "ms until all hosts are up" },
  { metric: "slowest", title: "ms of the slowest host" },
  { metric: "limit", title: "ms that it may take: 1.5 times the slowest, and 2 s" },
  { metric: "killed", title: "ms until nothing is left" },
];
const perMachine = 4;

export async function measure({ options }) {
  const started = await startAnswering([
    process.execPath,
    "--import",
    "tsx",
    here("ssh-lab.ts"),
    options.quick ? "4" : "16",
  ]);
  const lab = started.first;
  try {
    if (lab.missing !== undefined) {
      process.stderr.write(`left out: jobs over ssh need ${lab.missing}\n`);
      return [];
    }
    const names = lab.names.flatMap((name, machine) =>
      Array.from({ length: perMachine }, (_, index) => ({
        name: `${name}x${index}`,
        key: name,
        ip: lab.addresses[machine],
      })),
    );
    for (const { name, key, ip } of names) {
      appendFileSync(lab.config, `Host ${name}\n  HostName ${ip}\n  HostKeyAlias ${key}\n`);
    }
    const run = async (hosts) => {
      const job = JSON.stringify({ meshes: { workers: { hosts } }, cache: null, attach: { timeout: 60_000 } });
      const { asked, up, took, answered, killed, foreign } = await runJson(
        [...lab.through, process.execPath, here("driver.js"), "ssh", job, "1", "kill"],
        { env: lab.env },
      );
      const slowest = Math.max(...took);
      const limit = 1.5 * slowest + 2000;
      return { started: up - asked, slowest, limit, killed: killed - answered, foreign };
    };
    const sizes = [4, names.length];
    const subjects = sizes.map((count) => ({
      name: `${count} hosts`,
      run: () => run(names.slice(0, count).map(({ name }) => name)),
    }));
    const samples = await runInterleaved(subjects, options);
    const title = `SSHJob: ${names.length} hosts on ${lab.names.length} machines`;
    return [{ title, samples, table: compare(samples, { reference: `${sizes[0]} hosts`, columns, subject: "hosts" }) }];
  } finally {
    await started.stop();
  }
}
