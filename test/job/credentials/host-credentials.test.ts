/** Tests of the credentials of a host: where they are kept, and how they are obtained and renewed under a clock of the test. */
import { createPublicKey, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { type AddressInfo, connect as connectTo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { connect } from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Authority } from "../../../runtime/job/credentials/authority.js";
import { enrol } from "../../../runtime/job/credentials/enrol.js";
import { SavedKeys } from "../../../runtime/job/credentials/enrolled-keys.js";
import { EnrolmentDesk } from "../../../runtime/job/credentials/enrolment-desk.js";
import { parseEnrolmentSecret } from "../../../runtime/job/credentials/enrolment-secret.js";
import { HostCredentials, type Signer } from "../../../runtime/job/credentials/host-credentials.js";
import { ISSUER_REQUEST } from "../../../runtime/job/credentials/issuer-request.js";
import { awaitedIssuer, dialledIssuer, type IssuerRoute } from "../../../runtime/job/credentials/issuer-route.js";
import { systemClock, systemRandom } from "../../../runtime/link/clock.js";
import { listenAt } from "../../../runtime/link/transport/connect.js";
import { inProcessPipePair } from "../../../runtime/link/transport/in-process/pipe.js";
import type { SocketAddress } from "../../../runtime/link/transport/network-address.js";
import type { Pipe } from "../../../runtime/link/transport/pipe.js";
import { connectPipe } from "../../../runtime/link/transport/socket/pipe.js";
import { FileCredentials } from "../../../runtime/link/transport/tls/credentials.js";
import { formatIdentity, type Identity, parseIdentity } from "../../../runtime/link/transport/tls/identity.js";
import { ManualClock } from "../../link/resumable/cut-world.js";
import { until } from "../../proc/until.js";

const folder = mkdtempSync(path.join(tmpdir(), "viceroy-host-credentials-"));
afterAll(() => rmSync(folder, { recursive: true }));

const hour = 3_600_000;
const identity: Identity = { job: "job-1", role: "host", mesh: "trainers", rank: 0 };
let authority: Authority;
beforeAll(async () => {
  authority = Authority.create("job-1");
});

/** Its timers are those of the test, and its time of day is right. */
class RightClock extends ManualClock {
  override epochMs(): number {
    return Date.now();
  }
}

/** Enrols a host. Its certificate is valid for 8 hours. */
async function enrolled(clock: ManualClock, place = mkdtempSync(path.join(folder, "host-"))): Promise<HostCredentials> {
  const desk = new EnrolmentDesk({ clock: systemClock, random: systemRandom, authority, validFor: 8 * hour });
  const secret = parseEnrolmentSecret(desk.expect(identity), "the test");
  const [own, far] = inProcessPipePair();
  const [credentials] = await Promise.all([
    HostCredentials.enrol(routeTo(own), {
      clock,
      random: systemRandom,
      identity,
      secret,
      folder: place,
    }),
    desk.serve(far),
  ]);
  return credentials;
}

const routeTo = (pipe: Pipe): IssuerRoute => ({ name: "of the test", connect: async () => pipe });

/** Signs with the authority of the job, and counts. */
function signing(validFor = 8 * hour): Signer & { requests: number } {
  return {
    requests: 0,
    async sign({ identity: uri, publicKey }) {
      this.requests++;
      return { chain: authority.issue(publicKey, parseIdentity(uri), { validFor }), validFor };
    },
  };
}

const serialOf = ({ files }: HostCredentials) => new X509Certificate(readFileSync(files.cert)).serialNumber;

test("the key and the certificate are in private files, and belong together", async () => {
  const place = path.join(folder, "private");
  const { files } = await enrolled(new RightClock(), place);
  expect(readdirSync(place).sort()).toEqual(["authority.pem", "certificate.pem", "key.pem"]);
  expect([place, ...Object.values(files)].map((file) => (statSync(file).mode & 0o777).toString(8))).toEqual([
    "700",
    "600",
    "600",
    "600",
  ]);
  const { cert, key, ca, identity: own } = new FileCredentials(files).current();
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
  await expect(HostCredentials.enrol(routeTo(own), options)).rejects.toThrow(
    new Error(`cannot keep keys in ${place}: other users have access to it; run chmod 700 on it, got mode 755`),
  );
});

test("a certificate is renewed at half of its lifetime, with the same key", async () => {
  const clock = new RightClock();
  const host = await enrolled(clock);
  const [first, key] = [serialOf(host), readFileSync(host.files.key, "utf8")];
  const signer = signing(4 * hour);
  const stop = host.renewThrough(signer, () => expect.unreachable());
  clock.pass(4 * hour - 1);
  expect([signer.requests, serialOf(host)]).toEqual([0, first]);
  clock.pass(1);
  await until(() => serialOf(host) !== first);
  const second = serialOf(host);
  expect(readFileSync(host.files.key, "utf8")).toBe(key);
  // The second certificate is valid for 4 hours.
  await until(() => clock.waiting === 1);
  clock.pass(2 * hour - 1);
  expect(signer.requests).toBe(1);
  clock.pass(1);
  await until(() => serialOf(host) !== second);
  await until(() => clock.waiting === 1);
  stop();
  expect([clock.waiting, signer.requests]).toEqual([0, 2]);
});

test("a renewal that fails is reported and tried again, and the earlier certificate stays in use", async () => {
  const clock = new RightClock();
  const host = await enrolled(clock);
  const first = serialOf(host);
  const failures: string[] = [];
  const stranger = Authority.create("job-1");
  const good = signing();
  const attempts: Signer["sign"][] = [
    () => Promise.reject(new Error("the controller is away")),
    async ({ publicKey }) => ({
      chain: authority.issue(publicKey, { ...parseIdentity(formatIdentity(identity)), rank: 7 } as Identity, {
        validFor: hour,
      }),
      validFor: hour,
    }),
    async ({ publicKey }) => ({ chain: stranger.issue(publicKey, identity, { validFor: hour }), validFor: hour }),
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
  const clock = new RightClock();
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

test("a listener takes the renewed certificate without a restart", async () => {
  const clock = new RightClock();
  const host = await enrolled(clock);
  const stop = host.renewThrough(signing(), () => expect.unreachable());
  const listener = await listenAt({ kind: "tls", host: "127.0.0.1", port: 0 }, (pipe) => pipe.open(ignoring), {
    credentials: new FileCredentials(host.files),
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
  stop();
  listener.close();
});

const ignoring = { buffer: () => new Uint8Array(1024), received() {}, closed() {} };

test("an issuer that cannot be reached is tried again, and named by the error", async () => {
  const [listening, unused] = [createServer(), createServer()];
  await Promise.all([listening, unused].map((server) => once(server.listen(0, "127.0.0.1"), "listening")));
  const [late, never] = [listening, unused].map((server) => (server.address() as AddressInfo).port);
  await Promise.all([listening, unused].map((server) => once(server.close(), "close")));
  const desk = new EnrolmentDesk({ clock: systemClock, random: systemRandom, authority, validFor: 8 * hour });
  const common = { clock: systemClock, random: systemRandom, identity };
  const secret = parseEnrolmentSecret(desk.expect(identity), "the test");
  const options = { ...common, secret, folder: path.join(folder, "late"), patience: 500 };
  const uri = formatIdentity(identity);
  await expect(HostCredentials.enrol(dialledIssuer(`tcp://127.0.0.1:${never}`), options)).rejects.toThrow(
    new Error(
      `cannot enrol as ${uri}: cannot reach the issuer of its certificate at tcp://127.0.0.1:${never}: connect ECONNREFUSED ` +
        `127.0.0.1:${never}; tried for 500 ms; check that it runs, and that this machine reaches its port`,
    ),
  );
  const enrolling = HostCredentials.enrol(dialledIssuer(`tcp://127.0.0.1:${late}`), { ...options, patience: 30_000 });
  await new Promise((resolve) => setTimeout(resolve, 300));
  const address = { kind: "tcp", host: "127.0.0.1", port: late! } as const;
  const listener = await listenAt(address, (pipe) => void desk.serve(pipe));
  expect(existsSync((await enrolling).files.cert)).toBe(true);
  listener.close();
  expect(() => dialledIssuer("tls://n1:1")).toThrow(
    new TypeError("cannot reach an issuer at tls://n1:1: expected tcp://host:port"),
  );
});

test("an issuer that is called is asked by a line, and given up if it does not come", async () => {
  const socket = path.join(mkdtempSync(path.join(tmpdir(), "vi-")), "enrol.sock");
  const desk = new EnrolmentDesk({ clock: systemClock, random: systemRandom, authority, validFor: 8 * hour });
  const secret = parseEnrolmentSecret(desk.expect(identity), "the test");
  const lines: string[] = [];
  const call = () =>
    connectPipe((onread) => connectTo({ path: socket, onread }), "connect", socket, undefined).then((pipe) =>
      desk.serve(pipe),
    );
  const route = await awaitedIssuer({
    path: socket,
    print: (line) => {
      lines.push(line);
      // The first call fails after the host has sent its request.
      if (lines.length === 1)
        connectTo({ path: socket }, function (this: Socket) {
          this.destroy();
        });
      else void call();
    },
  });
  expect(statSync(socket).mode & 0o777).toBe(0o600);
  const place = path.join(folder, "called");
  const options = { clock: systemClock, random: systemRandom, identity, secret, folder: place };
  const host = await HostCredentials.enrol(route, options);
  expect(lines).toEqual([ISSUER_REQUEST, ISSUER_REQUEST]);
  const first = serialOf(host);
  const renewed = await enrol(await route.connect(), { ...options, publicKey: publicKeyOf(host) });
  expect(new X509Certificate(renewed.chain).serialNumber).not.toBe(first);
  route.close();
});

const publicKeyOf = ({ files }: HostCredentials) =>
  createPublicKey(readFileSync(files.key)).export({ type: "spki", format: "pem" }) as string;

test("an issuer that is started again knows the keys from before", async () => {
  const keys = path.join(folder, "enrolled");
  const uri = formatIdentity(identity);
  expect(new SavedKeys(keys).keep(uri, "first")).toBe("first");
  const next = new SavedKeys(keys);
  expect(next.keep(uri, "second")).toBe("first");
  expect(readdirSync(keys)).toEqual([encodeURIComponent(uri)]);
  next.forget(uri);
  expect(next.keep(uri, "second")).toBe("second");
});
