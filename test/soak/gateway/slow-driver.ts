/**
 * Watches the memory of a gateway while a driver is stopped to which a host sends 128 MiB, and another driver makes calls:
 * `slow-driver.ts <minutes>`. The memory must stay within 16 MiB of its middle.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { attachHosts } from "viceroy";
import { patience } from "../../host/attach-patiently.js";
import { listening, spawnHost } from "../../host/host-process.js";
import { loadCrew } from "../../proc/crew.js";
import { stopped, until } from "../../proc/until.js";
import { residentOf } from "../usage.js";

const minutes = Number(process.argv[2]);
const MiB = 1024 * 1024;
const mayVary = 16 * MiB;
/** The time in ms after which the memory of the calls that the test begins with counts as warmed up. */
const warmUp = 10_000;

const { SteelWorker } = await loadCrew();
const folder = mkdtempSync(join(tmpdir(), "vs-"));
const token = "a token of more than enough characters";
const start = () => listening(spawnHost(folder, ["--listen", "tcp://127.0.0.1:0"], { VICEROY_TOKEN: token }));
const [gateway, host] = await Promise.all([start(), start()]);
const file = fileURLToPath(new URL("../../host/through/greedy-driver.ts", import.meta.url));
const order = { address: host.address, through: gateway.address, token, calls: 16, bytes: 8 * MiB };
const slow = spawn(process.execPath, ["--import", "tsx", file, JSON.stringify(order)], {
  stdio: ["ignore", "pipe", "inherit"],
});
try {
  let said = "";
  slow.stdout.on("data", (text) => {
    said += text;
  });
  const hosts = attachHosts([host.address], { ...patience, token, through: gateway.address });
  const workers = hosts.spawnProcs().spawn("workers", SteelWorker);
  await workers.echo.call("before");
  await until(() => said.includes("going"));
  slow.kill("SIGSTOP");
  await until(() => stopped(slow.pid!));

  const end = performance.now() + minutes * 60_000;
  const countsFrom = performance.now() + Math.min(warmUp, minutes * 30_000);
  let [least, most, calls] = [Number.POSITIVE_INFINITY, 0, 0];
  while (performance.now() < end) {
    await Promise.all(Array.from({ length: 100 }, () => workers.echo.callOne("while the other driver is stopped")));
    calls += 100;
    await new Promise((resolve) => setTimeout(resolve, 100));
    if (performance.now() < countsFrom) continue;
    const resident = residentOf(gateway.child.pid!);
    [least, most] = [Math.min(least, resident), Math.max(most, resident)];
  }
  const range = `${(least / MiB).toFixed(0)} to ${(most / MiB).toFixed(0)} MiB`;
  console.log(`${minutes} minutes with a stopped driver: the gateway has had ${range}, and passed on ${calls} calls`);
  if (most - least > 2 * mayVary) throw new Error(`the memory of the gateway has not stayed within 16 MiB: ${range}`);
  await hosts.stop();
} finally {
  slow.kill("SIGKILL");
  for (const { child } of [gateway, host]) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}
process.exit();
