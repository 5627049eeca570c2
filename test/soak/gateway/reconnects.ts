/**
 * Cuts the connections between drivers and their gateway while calls are on the way: `reconnects.ts <count>`. Several drivers share the
 * count, because one whose connections end soon waits up to half a second before the next one.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { listening, spawnHost } from "../../host/host-process.js";
import { compileCrew } from "../../proc/crew.js";

const drivers = 20;
const cuts = Math.ceil(Number(process.argv[2]) / drivers);
const file = fileURLToPath(new URL("cut-driver.ts", import.meta.url));

await compileCrew();
const folder = mkdtempSync(join(tmpdir(), "vs-"));
const token = "a token of more than enough characters";
const start = () => listening(spawnHost(folder, ["--listen", "tcp://127.0.0.1:0"], { VICEROY_TOKEN: token }));
const [gateway, host] = await Promise.all([start(), start()]);
try {
  const began = performance.now();
  const order = JSON.stringify({ host: host.address, gateway: gateway.address, token, cuts });
  const runs = Array.from({ length: drivers }, async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ["--import", "tsx", file, order]);
    return Number(stdout);
  });
  const calls = (await Promise.all(runs)).reduce((sum, each) => sum + each, 0);
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  console.log(`${cuts * drivers} reconnects in ${seconds} s: all ${calls} calls were handled once and in order`);
} finally {
  for (const { child } of [gateway, host]) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}
