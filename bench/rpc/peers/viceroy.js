/** Viceroy: one echo actor in a process of its own, generated code, defaults. */
import { execFileSync } from "node:child_process";
import { canPin } from "../../harness/index.js";
import { loadDriver } from "../../viceroy/prepare.js";

export async function start(cpus) {
  const { spawnEcho } = await loadDriver();
  const { echo, stop } = spawnEcho(1);
  const pid = await echo.pid.callOne();
  if (cpus !== undefined && canPin()) execFileSync("taskset", ["-acp", cpus, String(pid)], { stdio: "ignore" });
  return { call: (record) => echo.echo.callOne(record), close: stop };
}
