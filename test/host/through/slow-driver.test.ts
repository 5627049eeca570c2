/** Tests that a driver that does not read costs the gateway a bounded number of bytes, and other drivers nothing. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { type Crew, compileCrew, loadCrew } from "../../proc/crew.js";
import { stopped, until } from "../../proc/until.js";
import { attachPatiently } from "../attach-patiently.js";
import { startHost } from "../start-host.js";

let crew: Crew;
beforeAll(async () => {
  await compileCrew();
  crew = await loadCrew();
});

const MiB = 1024 * 1024;
const token = "a token of more than enough characters";
const start = () => startHost("tcp://127.0.0.1:0", [], { VICEROY_TOKEN: token });
const file = fileURLToPath(new URL("./greedy-driver.ts", import.meta.url));

/** Returns the memory that a process occupies, in bytes. */
function memoryOf(pid: number): number {
  return 1024 * Number(/^VmRSS:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))![1]);
}

test("a stopped driver to which a host sends 128 MiB costs the gateway less memory than that, and others are served", async () => {
  const [gateway, one] = await Promise.all([start(), start()]);
  const through = gateway.address;
  const order = JSON.stringify({ address: one.address, through, token, calls: 16, bytes: 8 * MiB });
  const driver = spawn(process.execPath, ["--import", "tsx", file, order], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void driver.kill("SIGKILL"));
  let said = "";
  driver.stdout.on("data", (text) => {
    said += text;
  });
  await using hosts = attachPatiently([one.address], { token, through });
  const workers = hosts.spawnProcs().spawn("workers", crew.SteelWorker);
  expect(await workers.echo.callOne("before")).toBe("before");
  const before = memoryOf(gateway.child.pid!);
  await until(() => said.includes("going") || driver.exitCode !== null);
  expect(driver.exitCode).toBeNull();
  driver.kill("SIGSTOP");
  await until(() => stopped(driver.pid!));
  const atStop = memoryOf(gateway.child.pid!);
  let most = 0;
  for (let i = 0; i < 300; i++) {
    expect(await workers.echo.callOne(`call ${i}`)).toBe(`call ${i}`);
    most = Math.max(most, memoryOf(gateway.child.pid!));
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  // The rest is what the garbage collector has not freed: copies of what has been forwarded before.
  expect(most - before).toBeLessThan(64 * MiB);
  expect(most - atStop).toBeLessThan(16 * MiB);
  driver.kill("SIGCONT");
  await until(() => said.includes("done") || driver.exitCode !== null);
  expect(said).toContain("done");
});
