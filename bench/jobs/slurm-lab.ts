/**
 * Starts the cluster of the tests: `node --import tsx slurm-lab.ts <nodes>` prints one line of JSON, with the command prefix and the
 * environment in which programs run on the login machine. The cluster ends with standard input.
 */

import { SlurmCluster } from "../../test/job/lab/slurm-cluster.js";
import { findSlurm } from "../../test/job/lab/slurm-release.js";

const release = process.getuid?.() === 0 ? findSlurm("22.05") : undefined;
const ends: (() => void)[] = [];
if (release === undefined) {
  console.log(JSON.stringify({ missing: "root, and the programs of Slurm (npm run peers)" }));
} else {
  const { login, env } = new SlurmCluster({ release, nodes: Number(process.argv[2]), atEnd: (end) => ends.push(end) });
  const { PATH, LD_LIBRARY_PATH, SLURM_CONF } = env;
  console.log(JSON.stringify({ through: login.through, env: { PATH, LD_LIBRARY_PATH, SLURM_CONF } }));
}
process.stdin.resume().once("end", () => {
  for (const end of ends.reverse()) end();
  process.exit();
});
