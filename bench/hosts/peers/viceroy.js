/** Viceroy: `viceroy host` on the other host, one echo actor in a process there, with defaults. */
import path from "node:path";
import { startReady } from "../../harness/child.js";
import { repository } from "../../harness/index.js";
import { loadDriver } from "../../viceroy/prepare.js";

const cli = path.join(repository, "dist/cli/viceroy.js");

/** Starts `viceroy host`. @returns {Promise<{ address: string, stop: () => Promise<void> }>} */
export async function startHost({ address, through, tls }) {
  const files = tls === undefined ? ["--insecure"] : ["--cert", tls.cert, "--key", tls.key, "--ca", tls.ca];
  const listen = `${tls === undefined ? "tcp" : "tls"}://${address}:0`;
  const { line, stop } = await startReady([...through, process.execPath, cli, "host", "--listen", listen, ...files]);
  return { address: /listens at (\S+)/.exec(line)[1], stop };
}

export async function start(plan) {
  const { tls } = plan;
  const { address, ...host } = await startHost(plan);
  const { spawnEchoAt } = await loadDriver();
  const { echo, stop } = spawnEchoAt(address, tls === undefined ? {} : { tls });
  await echo.ready;
  return {
    call: (record) => echo.echo.callOne(record),
    push: (bytes) => echo.push.callOne(bytes),
    async close() {
      await stop();
      await host.stop();
    },
  };
}
