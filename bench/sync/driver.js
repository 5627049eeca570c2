/**
 * The driver of the benchmark: brings folders to hosts, and copies the same number of bytes to one host by a connection with TLS. It prints
 * one line of JSON for each round.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { connect } from "node:tls";
import { attachHosts } from "../../dist/index.js";

const { addresses, tls, gateway, folder, megabytes, rounds, copyTo } = JSON.parse(process.argv[2]);
const sentBytes = () => Number(readFileSync("/sys/class/net/eth0/statistics/tx_bytes", "utf8"));
const pieces = megabytes * 16;

/** Writes files of 62,500 random bytes, which cannot be compressed and which no host has. By their names, they are modules. */
function write() {
  for (let i = 0; i < pieces; i++) {
    const file = path.join(folder, `part-${i % 16}`, `file-${i}.js`);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, randomBytes(62_500));
  }
}

/** Sends bytes to one host, and waits until it has said that it has all. */
async function copy(bytes) {
  const socket = connect({
    ...copyTo,
    cert: readFileSync(tls.cert),
    key: readFileSync(tls.key),
    ca: readFileSync(tls.ca),
    checkServerIdentity: () => undefined,
  });
  socket.write(bytes);
  await new Promise((resolve, reject) => socket.once("data", resolve).once("error", reject));
  socket.destroy();
}

/** The processor time in seconds that the hosts and this driver have used. */
function processorSeconds() {
  const processes = readdirSync("/proc").flatMap((pid) => {
    try {
      const stat = readFileSync(`/proc/${Number(pid)}/stat`, "latin1");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return [
        { pid: Number(pid), parent: Number(fields[1]), seconds: (Number(fields[11]) + Number(fields[12])) / 100 },
      ];
    } catch {
      return [];
    }
  });
  const own = new Set([process.ppid]);
  for (const { pid, parent } of processes) if (own.has(parent)) own.add(pid);
  return processes.reduce((sum, { pid, seconds }) => sum + (own.has(pid) ? seconds : 0), 0);
}

async function timed(run) {
  const before = processorSeconds();
  const start = performance.now();
  const value = await run();
  const seconds = (performance.now() - start) / 1000;
  return { seconds, value, processor: processorSeconds() - before };
}

const hosts = attachHosts(addresses, { tls, ...gateway, silence: 30_000, keepAlive: 60_000, timeout: 60_000 });
const options = { roots: [folder], packages: false };
writeFileSync(path.join(folder, "package.json"), "{}");
await hosts.sync(options);
for (let round = 0; round < rounds; round++) {
  write();
  const before = sentBytes();
  const all = await timed(() => hosts.sync(options));
  const sent = sentBytes() - before;
  const copied = randomBytes(pieces * 62_500);
  const one = await timed(() => copy(copied));
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  await hosts.sync(options);
  writeFileSync(path.join(folder, "part-3", "file-3.js"), randomBytes(62_500));
  const edit = await timed(() => hosts.sync(options));
  const unchanged = await timed(() => hosts.sync(options));
  console.log(
    JSON.stringify({
      all: all.seconds,
      one: one.seconds,
      allProcessor: all.processor,
      oneProcessor: one.processor,
      sent: sent / all.value.bytes,
      edit: edit.seconds,
      unchanged: unchanged.seconds,
      skipped: all.value.hosts.reduce((sum, { skipped }) => sum + skipped, 0),
    }),
  );
}
await hosts.stop();
