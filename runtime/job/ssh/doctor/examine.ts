/** Examines hosts: starts their probes, a few at a time, lets them reach each other, and judges what they say. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DriverFacts, Finding } from "./finding.js";
import { findingsOf } from "./findings.js";
import { nativePlatform } from "./probe-lines.js";
import { ProbedHost } from "./probed-host.js";

/** Maximum number of hosts to which `ssh` connects at the same time, as for jobs. */
const parallel = 16;

const program = new URL("job-ssh-probe.cjs", new URL("./", import.meta.url));

/** The hosts to examine, and the options with which a job would start them. */
export interface Examination {
  readonly hosts: readonly string[];
  readonly sshOptions: readonly string[];
  readonly port: number | null;
  readonly setup: string | null;
  readonly node: string | null;
  /** The folder of the program's package. */
  readonly folder: string;
}

/** Returns the findings about all hosts, in their order. Nothing is left on the hosts. */
export async function examine(examination: Examination): Promise<readonly Finding[]> {
  const { hosts, folder, port } = examination;
  const directory = mkdtempSync(join(tmpdir(), "vdoc-"));
  try {
    const probed = await startProbes(examination, directory);
    const peers = probed.flatMap(({ peer }) => (peer === undefined ? [] : [peer]));
    await Promise.all(probed.map((host, index) => host.reach(peers.filter(({ host: name }) => name !== hosts[index]))));
    const facts = await Promise.all(probed.map((host) => host.end()));
    const driver: DriverFacts = { platform: nativePlatform(), folder, port };
    return facts.flatMap((known) => findingsOf(known, driver));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function startProbes(examination: Examination, directory: string): Promise<readonly ProbedHost[]> {
  const { hosts, sshOptions, port, setup, node, folder } = examination;
  const text = readFileSync(program, "utf8");
  const id = randomBytes(6).toString("hex");
  const probed: ProbedHost[] = [];
  let next = 0;
  const startOneByOne = async () => {
    for (let index = next++; index < hosts.length; index = next++) {
      const host = new ProbedHost({
        host: hosts[index]!,
        sshOptions,
        setup,
        node: node ?? "node",
        localSocket: join(directory, `${index}.sock`),
        order: {
          program: text,
          socket: `/tmp/vdoc-${id}-${index}/probe.sock`,
          port: port ?? 0,
          secret: randomBytes(16).toString("hex"),
          folder,
        },
      });
      probed[index] = host;
      await host.described();
    }
  };
  await Promise.all(Array.from({ length: parallel }, startOneByOne));
  return probed;
}
