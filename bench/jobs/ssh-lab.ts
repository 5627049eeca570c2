/**
 * Starts the machines of the tests, each with a server of ssh: `node --import tsx ssh-lab.ts <machines>` prints one line of JSON,
 * with the names of the machines, and the command prefix and the environment in which programs run on the driver's machine. The
 * machines end with standard input.
 */
import { networks } from "../../test/faults/network.js";
import { hasSsh, SshNetwork } from "../../test/job/lab/ssh-network.js";

const ends: (() => void)[] = [];
if (networks && hasSsh) {
  const names = Array.from({ length: Number(process.argv[2]) }, (_, index) => `m${index}`);
  const machines = Object.fromEntries(names.map((name) => [name, { sshd: ["MaxStartups 100"] }]));
  const network = new SshNetwork(machines, (end) => ends.push(end));
  await network.listening();
  const addresses = names.map((name) => network.machines[name]!.cluster.machine.ip);
  const { HOME, PATH } = network.env;
  console.log(
    JSON.stringify({ through: network.through, env: { HOME, PATH }, config: network.config, addresses, names }),
  );
} else {
  console.log(JSON.stringify({ missing: "root, network namespaces, nft and OpenSSH (npm run peers)" }));
}
process.stdin.resume().once("end", () => {
  for (const end of ends.reverse()) end();
  process.exit();
});
