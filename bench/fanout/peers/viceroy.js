/** Viceroy: one mesh, one `call`. */
import { loadDriver } from "../../viceroy/prepare.js";

export async function start(count) {
  const { spawnEcho } = await loadDriver();
  const { echo, stop } = spawnEcho(count);
  await echo.ready;
  return { round: async (record) => [...(await echo.touch.call(record)).values()], close: stop };
}
