/**
 * Brings 32 MB of files to 15 running hosts over links of 50 Mbit/s with TLS, directly or through the first of them, in pairs with one copy
 * over one such link, and then one changed file. Then runs a program on the hosts, without and with an edit before it. Each host is a
 * network namespace. Run it as root with `node --import tsx bench/sync/hosts.ts [rounds] [hosts] [megabytes] [through]`; `dist/` must be
 * built. All hosts write to the folder of temporary files, which should be in memory (`TMPDIR=/dev/shm`), because real hosts do not share
 * one disk.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createServer } from "node:tls";
import { fileURLToPath } from "node:url";
import { Authority } from "../../test/link/transport/tls/certificates.js";
import { makeProgram } from "../../test/sync/hosts/program.js";
import { listening, median, ShapedMachines } from "../harness/shaped-machines.js";

const [rounds = 3, count = 15, megabytes = 32] = process.argv.slice(2, 5).map(Number);
const rate = "50mbit";
const cli = fileURLToPath(new URL("../../dist/cli/viceroy.js", import.meta.url));
const driverFile = fileURLToPath(new URL("driver.js", import.meta.url));
const copyPort = 9999;

if (process.argv[2] === "receive") {
  await receiveCopies();
} else {
  await measure();
}

/** Receives copies on one host, and says when each is complete. */
async function receiveCopies(): Promise<void> {
  const [, , , cert = "", key = "", ca = "", size = ""] = process.argv;
  const files = { cert: readFileSync(cert), key: readFileSync(key), ca: readFileSync(ca), requestCert: true };
  const server = createServer(files, (socket) => {
    let left = Number(size);
    socket.on("error", () => {});
    socket.on("data", ({ length }) => {
      left -= length;
      if (left <= 0) socket.write("done");
    });
  });
  server.listen(copyPort, () => console.log("listens at copies"));
  await new Promise(() => {});
}

async function measure(): Promise<void> {
  const name = `vsync${process.pid}`;
  const work = mkdtempSync(path.join(tmpdir(), "sync-bench-"));
  const authority = new Authority();
  const network = new ShapedMachines(name, { rate, burst: "128kb" });
  const start = (space: string, env: object, ...command: string[]) =>
    network.start(space, env, process.execPath, ...command);
  try {
    const driver = network.add().space;
    const machines = Array.from({ length: count }, () => network.add().space);
    const addresses = await Promise.all(
      machines.map(async (space, i) => {
        const { cert, key, ca } = authority.issue(`host-${i}`, 1, `IP:10.77.0.${i + 2}`);
        const cache = path.join(work, `cache-${i}`);
        mkdirSync(cache, { mode: 0o700 });
        const listen = ["--listen", `tls://10.77.0.${i + 2}:26600`, "--cert", cert, "--key", key, "--ca", ca];
        const text = await listening(start(space, { XDG_CACHE_HOME: cache }, cli, "host", ...listen));
        return /listens at (\S+)/.exec(text)?.[1] ?? "";
      }),
    );
    const tls = authority.issue("driver");
    const size = String(megabytes * 16 * 62_500);
    const self = fileURLToPath(import.meta.url);
    const receiver = authority.issue("receiver");
    const files = [receiver.cert, receiver.key, receiver.ca];
    await listening(start(machines[0] as string, {}, "--import", "tsx", self, "receive", ...files, size));
    const folder = path.join(work, "program");
    const cache = path.join(work, "cache-driver");
    for (const each of [folder, cache]) mkdirSync(each, { mode: 0o700 });
    // With "through", the driver has a connection with the first host alone, which passes everything on.
    const gateway = process.argv[5] === "through" ? { through: addresses[0] } : {};
    const order = { addresses, tls, gateway, folder, megabytes, rounds, copyTo: { host: "10.77.0.2", port: copyPort } };
    const line = [process.execPath, driverFile, JSON.stringify(order)];
    report((await network.run(driver, { XDG_CACHE_HOME: cache }, ...line)) as Round[]);
    await measureRuns(addresses, { tls, ...gateway }, driver, work);
  } finally {
    await network.remove();
    rmSync(work, { recursive: true, force: true });
    authority.remove();
  }
}

/** Runs a program that syncs, starts a process on each host and calls it, in pairs without and with an edit of a module before it. */
async function measureRuns(addresses: readonly string[], way: object, driver: string, work: string): Promise<void> {
  const options = { ...way, silence: 30_000, keepAlive: 60_000, timeout: 60_000 };
  const through = ["ip", "netns", "exec", driver];
  const program = await makeProgram(addresses, options, { parent: work, through });
  const run = async (): Promise<number> => {
    const start = performance.now();
    const { value } = await program.run(`
      await using hosts = attach();
      await hosts.sync();
      print(await values(hosts.spawnProcs().spawn("sites", Here).text.call()));
    `);
    const seconds = (performance.now() - start) / 1000;
    const text = /"(.*)"/.exec(readFileSync(path.join(program.folder, "src/text.ts"), "utf8"))?.[1];
    if (value.length !== count || value.some((each: string) => each !== text)) throw new Error(`it has run ${value}`);
    return seconds;
  };
  await run();
  const runs: { readonly without: number; readonly edited: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    const without = await run();
    writeFileSync(path.join(program.folder, "src/text.ts"), `export const text = "edit ${round}";\n`);
    runs.push({ without, edited: await run() });
  }
  console.log(
    `a run on ${count} hosts ${median(runs.map(({ without }) => without)).toFixed(2)} s; after an edit ` +
      `${median(runs.map(({ edited }) => edited)).toFixed(2)} s; ratio ${median(runs.map(({ edited, without }) => edited / without)).toFixed(2)}`,
  );
}

type Round = Readonly<
  Record<"all" | "one" | "allProcessor" | "oneProcessor" | "sent" | "edit" | "unchanged" | "skipped", number>
>;

function report(measured: readonly Round[]): void {
  const of = (key: keyof Round) => median(measured.map((round) => round[key]));
  const ratio = median(measured.map(({ all, one }) => all / one));
  console.log(
    `${megabytes} MB to ${count} hosts over ${rate}: ${of("all").toFixed(2)} s; one copy over one link ${of("one").toFixed(2)} s; ` +
      `ratio ${ratio.toFixed(2)}; the processors worked for ${of("allProcessor").toFixed(1)} s, and for ${of("oneProcessor").toFixed(1)} s for one copy; the driver sent ${of("sent").toFixed(3)} copies; one changed file ${of("edit").toFixed(2)} s; ` +
      `unchanged ${of("unchanged").toFixed(2)} s`,
  );
}
