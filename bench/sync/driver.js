/**
 * The driver of the benchmark: brings folders to hosts, and copies the same number of bytes to one host by a connection with TLS. It prints
 * one line of JSON for each round.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { connect } from "node:tls";
import { attachHosts } from "../../dist/index.js";

const { addresses, tls, folder, megabytes, rounds, copyTo } = JSON.parse(process.argv[2]);
const sentBytes = () => Number(readFileSync("/sys/class/net/eth0/statistics/tx_bytes", "utf8"));
const pieces = megabytes * 16;

/** Writes files of 62,500 random bytes, which cannot be compressed and which no host has. */
function write() {
  for (let i = 0; i < pieces; i++) {
    const file = path.join(folder, `part-${i % 16}`, `file-${i}.bin`);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, randomBytes(62_500));
  }
}

/** Sends the bytes to one host, and waits until it has said that it has all. Returns the time in seconds. */
async function copy() {
  const bytes = randomBytes(pieces * 62_500);
  const start = performance.now();
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
  return (performance.now() - start) / 1000;
}

async function timed(run) {
  const start = performance.now();
  const value = await run();
  return { seconds: (performance.now() - start) / 1000, value };
}

const hosts = attachHosts(addresses, { tls, silence: 30_000, keepAlive: 60_000, timeout: 60_000 });
const options = { roots: [folder], packages: false };
writeFileSync(path.join(folder, "package.json"), "{}");
await hosts.sync(options);
for (let round = 0; round < rounds; round++) {
  write();
  const before = sentBytes();
  const all = await timed(() => hosts.sync(options));
  const sent = sentBytes() - before;
  const one = await copy();
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  await hosts.sync(options);
  writeFileSync(path.join(folder, "part-3", "file-3.bin"), randomBytes(62_500));
  const edit = await timed(() => hosts.sync(options));
  const unchanged = await timed(() => hosts.sync(options));
  console.log(
    JSON.stringify({
      all: all.seconds,
      one,
      sent: sent / all.value.bytes,
      edit: edit.seconds,
      unchanged: unchanged.seconds,
      skipped: all.value.hosts.reduce((sum, { skipped }) => sum + skipped, 0),
    }),
  );
}
await hosts.stop();
