/**
 * Viceroy: `viceroy host` on the other host, one echo actor in a process there, with defaults. With `hasGateway`, the driver reaches
 * it through a second host there.
 */
import path from "node:path";
import { startReady } from "../../harness/child.js";
import { repository } from "../../harness/index.js";
import { loadDriver } from "../../viceroy/prepare.js";

const cli = path.join(repository, "dist/cli/viceroy.js");

/** Starts `viceroy host`. @returns {Promise<{ address: string, stop: () => Promise<void> }>} */
export async function startHost({ address, through, tls, more = [] }) {
  const files = tls === undefined ? ["--insecure"] : ["--cert", tls.cert, "--key", tls.key, "--ca", tls.ca];
  const listen = `${tls === undefined ? "tcp" : "tls"}://${address}:0`;
  const { line, stop } = await startReady([
    ...through,
    process.execPath,
    cli,
    "host",
    "--listen",
    listen,
    ...files,
    ...more,
  ]);
  return { address: /listens at (\S+)/.exec(line)[1], stop };
}

export async function start(plan) {
  const { tls, hasGateway = false } = plan;
  const { address, ...host } = await startHost(plan);
  const gateway = hasGateway ? await startHost(plan) : undefined;
  const { spawnEchoAt } = await loadDriver();
  const through = gateway === undefined ? {} : { through: gateway.address };
  const { echo, stop } = spawnEchoAt(address, { ...(tls === undefined ? {} : { tls }), ...through });
  await echo.ready;
  return {
    call: (record) => echo.echo.callOne(record),
    push: (bytes) => echo.push.callOne(bytes),
    async close() {
      await stop();
      await host.stop();
      await gateway?.stop();
    },
  };
}
