/**
 * A driver of two hosts with one vault each. Its arguments are a token, a time limit and the addresses of the hosts. It
 * reads orders from standard input, and prints the result of each as a line of JSON:
 *
 * - `move <bytes>`: the first vault reads from the second; then this program reads, writes and reads again.
 * - `hold <bytes>`: the first vault and this program read from the second until both fail, and print the error codes.
 * - `end`: the program exits.
 */
import { createInterface } from "node:readline";
import { attachHosts, onUnhandledFault } from "viceroy";
import type { RdmaBuffer } from "viceroy/rdma";
import "../project/generated/registry.js";
import { IronVault, pattern } from "../project/src/iron-vault.js";

const [token, silence, ...addresses] = process.argv.slice(2);
onUnhandledFault(() => {});
const times = { silence: Number(silence), keepAlive: Number(silence), timeout: 60_000 };
const hosts = attachHosts(addresses, { ...times, token: token! });
const mesh = hosts.spawnProcs().spawn("vaults", IronVault);
await mesh.ready;
const [near, far] = [mesh.slice({ hosts: 0 }), mesh.slice({ hosts: 1 })];
const say = (line: object) => void process.stdout.write(`${JSON.stringify(line)}\n`);

async function move(size: number): Promise<void> {
  const buffer = await far.make.callOne(false, size, "rw");
  const found = await near.read.callOne(buffer, "stream", size);
  await buffer.open({ transports: ["stream"] });
  const bytes = new Uint8Array(size);
  await buffer.readInto(bytes);
  const same =
    Buffer.compare(bytes, found.bytes ?? Buffer.alloc(0)) === 0 && bytes.every((byte, i) => byte === pattern(i));
  await buffer.writeFrom(bytes.fill(5), { length: size - 1 });
  await buffer.readInto(bytes.fill(0));
  const written = bytes.every((byte, i) => byte === (i < size - 1 ? 5 : pattern(i)));
  say({ same, written, ...(found.code && { code: found.code }) });
}

async function hold(size: number): Promise<void> {
  const buffer = await far.make.callOne(false, size, "r");
  await far.fill.callOne(4);
  const other = near.readUntil.callOne(buffer, "stream", 4);
  const own = codeOf(readUntilItFails(buffer));
  say({ holding: true });
  const { code, foreign } = await other;
  say({ other: code, foreign, own: await own });
}

async function readUntilItFails(buffer: RdmaBuffer): Promise<never> {
  await buffer.open({ transports: ["stream"] });
  const bytes = new Uint8Array(buffer.size);
  for (;;) await buffer.readInto(bytes);
}

function codeOf(reading: Promise<never>): Promise<string> {
  return reading.catch((error) => (error as { code?: string }).code ?? String(error));
}

say({ ready: true });
for await (const order of createInterface(process.stdin)) {
  const [what, size] = order.split(" ");
  if (what === "move") await move(Number(size));
  else if (what === "hold") await hold(Number(size));
  else process.exit(0);
}
