/** Tests of the credentials of a host: where they are kept, and their renewal under a clock of the test. */
import { createPublicKey, X509Certificate } from "node:crypto";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { connect } from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Authority } from "../../../runtime/job/credentials/authority.js";
import { EnrolmentDesk } from "../../../runtime/job/credentials/enrolment-desk.js";
import { parseEnrolmentSecret } from "../../../runtime/job/credentials/enrolment-secret.js";
import { HostCredentials, type Signer } from "../../../runtime/job/credentials/host-credentials.js";
import { systemClock, systemRandom } from "../../../runtime/link/clock.js";
import { listenAt } from "../../../runtime/link/transport/connect.js";
import { inProcessPipePair } from "../../../runtime/link/transport/in-process/pipe.js";
import type { SocketAddress } from "../../../runtime/link/transport/network-address.js";
import { formatIdentity, type Identity, parseIdentity } from "../../../runtime/link/transport/tls/identity.js";
import { ManualClock } from "../../link/resumable/cut-world.js";
import { until } from "../../proc/until.js";

const folder = mkdtempSync(path.join(tmpdir(), "viceroy-host-credentials-"));
afterAll(() => rmSync(folder, { recursive: true }));

const hour = 3_600_000;
const identity: Identity = { job: "job-1", role: "host", mesh: "trainers", rank: 0 };
let authority: Authority;
beforeAll(async () => {
  authority = await Authority.create("job-1");
});

/** Enrols a host. Its certificate is valid for 8 hours. */
async function enrolled(clock: ManualClock, place?: string): Promise<HostCredentials> {
  const desk = new EnrolmentDesk({ clock: systemClock, random: systemRandom, authority, validFor: 8 * hour });
  const secret = parseEnrolmentSecret(desk.expect(identity), "the test");
  const [own, far] = inProcessPipePair();
  const [credentials] = await Promise.all([
    HostCredentials.enrol(own, {
      clock,
      random: systemRandom,
      identity,
      secret,
      ...(place === undefined ? {} : { folder: place }),
    }),
    desk.serve(far),
  ]);
  return credentials;
}

/** Signs with the authority of the job, and counts. */
function signing(validFor = 8 * hour): Signer & { requests: number } {
  return {
    requests: 0,
    async sign({ identity: uri, publicKey }) {
      this.requests++;
      return { chain: await authority.issue(publicKey, parseIdentity(uri), { validFor }), validFor };
    },
  };
}

const serialOf = ({ credentials }: HostCredentials) => new X509Certificate(credentials.current().cert).serialNumber;

test("the key and the certificate are in private files, and belong together", async () => {
  const place = path.join(folder, "private");
  const { files, credentials } = await enrolled(new ManualClock(), place);
  expect(readdirSync(place).sort()).toEqual(["authority.pem", "certificate.pem", "key.pem"]);
  expect([place, ...Object.values(files!)].map((file) => (statSync(file).mode & 0o777).toString(8))).toEqual([
    "700",
    "600",
    "600",
    "600",
  ]);
  const { cert, key, ca, identity: own } = credentials.current();
  const certificate = new X509Certificate(cert);
  expect(createPublicKey(key).equals(certificate.publicKey)).toBe(true);
  expect(certificate.verify(new X509Certificate(ca).publicKey)).toBe(true);
  expect(own).toEqual(identity);
});

test("a folder that other users can open is refused", async () => {
  const place = mkdtempSync(path.join(folder, "open-"));
  chmodSync(place, 0o755);
  const [own] = inProcessPipePair();
  const options = { clock: systemClock, random: systemRandom, identity, secret: new Uint8Array(32), folder: place };
  await expect(HostCredentials.enrol(own, options)).rejects.toThrow(
    new Error(`cannot keep keys in ${place}: other users have access to it; run chmod 700 on it, got mode 755`),
  );
});

test.each(["memory", "files"])(
  "a certificate in %s is renewed at half of its lifetime, with the same key",
  async (where) => {
    const clock = new ManualClock();
    const host = await enrolled(clock, where === "files" ? path.join(folder, "renewed") : undefined);
    const [first, key] = [serialOf(host), host.credentials.current().key];
    const signer = signing(4 * hour);
    const stop = host.renewThrough(signer, () => expect.unreachable());
    clock.pass(4 * hour - 1);
    expect([signer.requests, serialOf(host)]).toEqual([0, first]);
    clock.pass(1);
    await until(() => serialOf(host) !== first);
    const second = serialOf(host);
    expect(host.credentials.current().key).toEqual(key);
    // The second certificate is valid for 4 hours.
    await until(() => clock.waiting === 1);
    clock.pass(2 * hour - 1);
    expect(signer.requests).toBe(1);
    clock.pass(1);
    await until(() => serialOf(host) !== second);
    await until(() => clock.waiting === 1);
    stop();
    expect([clock.waiting, signer.requests]).toEqual([0, 2]);
  },
);

test("a renewal that fails is reported and tried again, and the earlier certificate stays in use", async () => {
  const clock = new ManualClock();
  const host = await enrolled(clock);
  const first = serialOf(host);
  const failures: string[] = [];
  const stranger = await Authority.create("job-1");
  const good = signing();
  const attempts: Signer["sign"][] = [
    () => Promise.reject(new Error("the controller is away")),
    async ({ publicKey }) => ({
      chain: await authority.issue(publicKey, { ...parseIdentity(formatIdentity(identity)), rank: 7 } as Identity, {
        validFor: hour,
      }),
      validFor: hour,
    }),
    async ({ publicKey }) => ({ chain: await stranger.issue(publicKey, identity, { validFor: hour }), validFor: hour }),
    async () => ({ chain: "no certificate", validFor: hour }),
  ];
  const stop = host.renewThrough(
    { sign: (request) => (attempts.shift() ?? good.sign.bind(good))(request) },
    ({ message }) => void failures.push(message),
  );
  clock.pass(4 * hour);
  for (let count = 1; count <= 4; count++) {
    await until(() => failures.length === count && clock.waiting === 1);
    expect(serialOf(host)).toBe(first);
    // The pause is a sixteenth of what is left of the lifetime.
    clock.pass(hour / 4);
  }
  await until(() => serialOf(host) !== first);
  stop();
  const cannot = "cannot use the certificate for viceroy://job-1/hosts/trainers/0: ";
  expect(failures).toEqual([
    "the controller is away",
    `${cannot}it is for another process, got viceroy://job-1/hosts/trainers/7`,
    `${cannot}it was not signed by the authority of the job`,
    `${cannot}it is malformed`,
  ]);
});

test("a lifetime that is longer than the longest timer is waited for in parts", async () => {
  const clock = new ManualClock();
  const host = await enrolled(clock);
  const year = 365 * 24 * hour;
  const signer = signing(year);
  const stop = host.renewThrough(signer, () => expect.unreachable());
  clock.pass(4 * hour);
  await until(() => signer.requests === 1 && clock.waiting === 1);
  clock.pass(year / 2 - hour);
  expect(signer.requests).toBe(1);
  clock.pass(hour);
  expect(signer.requests).toBe(2);
  stop();
});

test.each(["memory", "files"])("a listener takes the renewed certificate from %s without a restart", async (where) => {
  const clock = new ManualClock();
  const place = path.join(folder, `listening-${where}`);
  const host = await enrolled(clock, where === "files" ? place : undefined);
  const stop = host.renewThrough(signing(), () => expect.unreachable());
  const listener = await listenAt({ kind: "tls", host: "127.0.0.1", port: 0 }, (pipe) => pipe.open(ignoring), {
    credentials: host.credentials,
  });
  const { port } = listener.address as SocketAddress;
  const presented = () =>
    new Promise<string>((resolve, reject) => {
      const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false }, () => {
        resolve(socket.getPeerCertificate().serialNumber);
        socket.destroy();
      });
      socket.on("error", reject);
    });
  const first = serialOf(host);
  expect(await presented()).toBe(first);
  clock.pass(4 * hour);
  await until(() => serialOf(host) !== first);
  expect(await presented()).toBe(serialOf(host));
  if (where === "files") expect(readFileSync(path.join(place, "certificate.pem"), "utf8")).toContain("CERTIFICATE");
  stop();
  listener.close();
});

const ignoring = { buffer: () => new Uint8Array(1024), received() {}, closed() {} };
