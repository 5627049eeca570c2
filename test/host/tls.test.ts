/** Hosts behind TLS: certificates decide who may start processes. */
import { attachHosts } from "viceroy";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Authority } from "../link/tls/certificates.js";
import { type Crew, loadCrew } from "../proc/crew.js";
import { until } from "../proc/until.js";
import { startHost } from "./daemon.js";

let crew: Crew;
let authority: Authority;
let strangers: Authority;
beforeAll(async () => {
  crew = await loadCrew();
  authority = new Authority();
  strangers = new Authority();
});
afterAll(() => {
  authority.remove();
  strangers.remove();
});

const token = "a token of more than enough characters";

function tlsHost(env: Readonly<Record<string, string>> = {}) {
  const { cert, key, ca } = authority.issue("host");
  return startHost("tls://127.0.0.1:0", ["--cert", cert, "--key", key, "--ca", ca], env);
}

test("a driver with a certificate of the same authority is let in; a token may be wanted as well", async () => {
  const [host, guarded] = await Promise.all([tlsHost(), tlsHost({ VICEROY_TOKEN: token })]);
  const tls = authority.issue("driver");
  await using hosts = attachHosts([host.address], { tls });
  const workers = hosts.spawnProcs({ gpus: 2 }).spawn("workers", crew.SteelWorker);
  expect([...(await workers.echo.call("secret")).values()]).toEqual(["secret", "secret"]);
  await using both = attachHosts([guarded.address], { tls, token });
  await both.ready;
  await using without = attachHosts([guarded.address], { tls });
  await expect(without.ready).rejects.toThrow("asks for a token");
});

test("a driver of another authority, or whose certificate has expired, is not, and nothing of it is left", async () => {
  const host = await tlsHost();
  await using stranger = attachHosts([host.address], {
    tls: { ...strangers.issue("driver"), ca: authority.issue("x").ca },
  });
  await expect(stranger.ready).rejects.toThrow(`cannot attach host ${host.address}: `);
  await using late = attachHosts([host.address], { tls: authority.issue("late", -1) });
  await expect(late.ready).rejects.toThrow(`cannot attach host ${host.address}: `);
  await until(() => host.output.text.includes("refused a connection: "));
  expect(host.drivers()).toEqual([]);
});

test("a driver does not take a host of another authority for its own", async () => {
  const host = await tlsHost();
  await using hosts = attachHosts([host.address], { tls: strangers.issue("driver") });
  await expect(hosts.ready).rejects.toThrow(`cannot attach host ${host.address}: `);
});
