/** Tests of hosts with TLS: certificates decide which drivers may start processes. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TlsFiles } from "../../runtime/link/transport/tls/credentials.js";
import { Authority } from "../link/transport/tls/certificates.js";
import { type Crew, loadCrew } from "../proc/crew.js";
import { until } from "../proc/until.js";
import { attachPatiently } from "./attach-patiently.js";
import { startHost } from "./start-host.js";

let crew: Crew;
let authority: Authority;
let strangers: Authority;
/** The certificate of all hosts. A host that starts reads its files, so they must not be written again at the same time. */
let certificate: TlsFiles;
beforeAll(async () => {
  crew = await loadCrew();
  authority = new Authority();
  certificate = authority.issue("host");
  strangers = new Authority();
});
afterAll(() => {
  authority.remove();
  strangers.remove();
});

/** A time limit in ms longer than that of a test, so that a test with further attempts fails. */
const timeout = 2_000_000;
const token = "a token of more than enough characters";

function tlsHost(env: Readonly<Record<string, string>> = {}) {
  const { cert, key, ca } = certificate;
  return startHost("tls://127.0.0.1:0", ["--cert", cert, "--key", key, "--ca", ca], env);
}

test("a driver with a certificate of the same authority is accepted, if its token is right, too", async () => {
  const [host, guarded] = await Promise.all([tlsHost(), tlsHost({ VICEROY_TOKEN: token })]);
  const tls = authority.issue("driver");
  await using hosts = attachPatiently([host.address], { tls });
  const workers = hosts.spawnProcs({ gpus: 2 }).spawn("workers", crew.SteelWorker);
  expect([...(await workers.echo.call("secret")).values()]).toEqual(["secret", "secret"]);
  await using both = attachPatiently([guarded.address], { tls, token });
  await both.ready;
  await using without = attachPatiently([guarded.address], { tls });
  await expect(without.ready).rejects.toThrow("asks for a token");
});

test("a driver of another authority or with an expired certificate is refused, and nothing of it is left", async () => {
  const host = await tlsHost();
  const refusal = `cannot attach host ${host.address}: the host does not trust the certificate of this process: `;
  await using stranger = attachPatiently([host.address], {
    tls: { ...strangers.issue("driver"), ca: authority.issue("x").ca },
    timeout,
  });
  await expect(stranger.ready).rejects.toThrow(`${refusal}UNABLE_TO_VERIFY_LEAF_SIGNATURE`);
  await using late = attachPatiently([host.address], { tls: authority.issue("late", -1), timeout });
  await expect(late.ready).rejects.toThrow(`${refusal}CERT_HAS_EXPIRED`);
  const noted =
    /refused a connection from 127\.0\.0\.1:\d+: it has shown no certificate that can be trusted: UNABLE_TO_VER/;
  await until(() => noted.test(host.output.text));
  expect(host.drivers()).toEqual([]);
});

test("a driver refuses a host of another authority", async () => {
  const host = await tlsHost();
  await using hosts = attachPatiently([host.address], { tls: strangers.issue("driver"), timeout });
  await expect(hosts.ready).rejects.toThrow(
    `cannot attach host ${host.address}: this process does not trust the certificate of the host: self-signed ` +
      "certificate in certificate chain",
  );
});

test("a driver gets an error at once if it uses tcp:// for a host with TLS, or the reverse", async () => {
  const guarded = await tlsHost();
  const tcp = guarded.address.replace("tls:", "tcp:");
  await using plain = attachPatiently([tcp], { timeout });
  await expect(plain.ready).rejects.toThrow(
    `cannot attach host ${tcp}: the host speaks TLS and this process does not; give certificates, and use tls:// in its address unless it is the URL of a WebSocket`,
  );
  await until(() => /refused a connection from 127\.0\.0\.1:\d+: it does not speak TLS/.test(guarded.output.text));
  const open = await startHost("tcp://127.0.0.1:0");
  const tls = open.address.replace("tcp:", "tls:");
  await using secret = attachPatiently([tls], { tls: authority.issue("driver"), timeout });
  await expect(secret.ready).rejects.toThrow(
    `cannot attach host ${tls}: the host does not speak TLS; start it with a certificate, or use tcp:// in its address, or leave out the option tls if its address is the URL of a WebSocket`,
  );
  await until(() => /refused a connection from 127\.0\.0\.1:\d+: the peer speaks TLS/.test(open.output.text));
});
