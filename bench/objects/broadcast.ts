/**
 * Brings a value of 128 MiB to 8 hosts over links of 200 Mbit/s, in pairs with one host alone. Each host is a network namespace with
 * process ids of its own, so that it cannot open the memory of the others. Run it as root with
 * `npm run bench:objects-hosts -- [rounds] [hosts] [mebibytes]`; `dist/` must be built, and the addon set up.
 */
import { fileURLToPath } from "node:url";
import { listening, median, ShapedMachines } from "../harness/shaped-machines.js";

const [rounds = 3, count = 8, mebibytes = 128] = process.argv.slice(2).map(Number);
const rate = "200mbit";
const cli = fileURLToPath(new URL("../../dist/cli/viceroy.js", import.meta.url));
const driverFile = fileURLToPath(new URL("broadcast-driver.js", import.meta.url));
const apart = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"];
const env = { VICEROY_TOKEN: "a token of more than enough characters" };

interface Round {
  /** Seconds until all hosts, and until one host, have read a value. */
  readonly all: number;
  readonly one: number;
}

const network = new ShapedMachines(`vobjects${process.pid}`, { rate, burst: "256kb" });
try {
  const driver = network.add();
  const addresses = await Promise.all(
    Array.from({ length: count }, async () => {
      const { space, ip } = network.add();
      const listen = ["host", "--listen", `tcp://${ip}:26600`];
      const text = await listening(network.start(space, env, ...apart, process.execPath, cli, ...listen));
      return /listens at (\S+)/.exec(text)?.[1] ?? "";
    }),
  );
  const order = JSON.stringify({ addresses, rounds, bytes: mebibytes * 2 ** 20 });
  const measured = (await network.run(driver.space, env, process.execPath, driverFile, order)) as Round[];
  const of = (key: keyof Round) => median(measured.map((round) => round[key]));
  const ratios = measured.map(({ all, one }) => all / one);
  console.log(
    `${mebibytes} MiB to ${count} hosts over ${rate}: ${of("all").toFixed(2)} s; to one host ${of("one").toFixed(2)} s; ratio ` +
      `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)}-${Math.max(...ratios).toFixed(2)})`,
  );
} finally {
  await network.remove();
}
