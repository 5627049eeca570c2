/** Viceroy: one echo actor in a process of its own, with generated code and defaults. */
import { canPin } from "../../harness/index.js";
import { loadDriver } from "../../viceroy/prepare.js";

export async function start(cpus) {
  const { spawnEcho } = await loadDriver();
  const { echo, stop } = spawnEcho(1, "process", canPin() ? cpus : undefined);
  await echo.ready;
  return { call: (record) => echo.echo.callOne(record), close: stop };
}
