/** Tests of hosts as processes whose clocks are wrong: they enrol over the network, and certificates cover the skew. */
import { type ChildProcess, spawn } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { Authority } from "../../../runtime/job/credentials/authority.js";
import { EnrolmentDesk } from "../../../runtime/job/credentials/enrolment-desk.js";
import { systemClock, systemRandom } from "../../../runtime/link/clock.js";
import { connectTo, listenAt } from "../../../runtime/link/transport/connect.js";
import type { Listener } from "../../../runtime/link/transport/listener.js";
import { formatNetworkAddress, parseNetworkAddress } from "../../../runtime/link/transport/network-address.js";
import type { Credentials } from "../../../runtime/link/transport/tls/credentials.js";
import { parseIdentity } from "../../../runtime/link/transport/tls/identity.js";
import { peer } from "../../peers.js";
import { until } from "../../proc/until.js";
import { issueCredentials } from "./issue-files.js";

const faketime = peer("faketime");
const program = fileURLToPath(new URL("programs/listen.ts", import.meta.url));
const identity = "viceroy://job-1/hosts/trainers/0";
const folder = mkdtempSync(path.join(tmpdir(), "viceroy-clocks-"));
const hour = 3_600_000;

const children: ChildProcess[] = [];
const listeners: Listener[] = [];
let job: Authority;
beforeAll(async () => {
  job = Authority.create("job-1");
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  for (const listener of listeners.splice(0)) listener.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Starts a host that enrols here. @param offset by how much its clock is wrong, such as `+6h` */
async function startHost(offset: string) {
  const desk = new EnrolmentDesk({ clock: systemClock, random: systemRandom, authority: job, validFor: 24 * hour });
  const secret = desk.expect(parseIdentity(identity));
  const served: Promise<unknown>[] = [];
  const listener = await listenAt({ kind: "tcp", host: "127.0.0.1", port: 0 }, (pipe) => served.push(desk.serve(pipe)));
  listeners.push(listener);
  const place = mkdtempSync(path.join(folder, "host-"));
  const args = ["--import", "tsx", program, formatNetworkAddress(listener.address), identity, place];
  const wrong = offset === "" ? [] : [faketime!, "-f", offset];
  const [file, ...command] = [...wrong, process.execPath, ...args];
  const env = { ...process.env, ENROLMENT_SECRET: secret, FAKETIME_DONT_FAKE_MONOTONIC: "1" };
  const child = spawn(file!, command, { env, stdio: ["pipe", "pipe", "pipe"] });
  children.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  await until(() => /listens at /.test(output) || child.exitCode !== null);
  const [, address, clock] = /listens at (\S+), clock (\S+)/.exec(output) ?? [];
  if (address === undefined) throw new Error(output);
  await Promise.all(served);
  return { address: `${address}#${identity}`, clock: Date.parse(clock!), place, output: () => output };
}

/** Connects to a host. @returns the error, or what the host has said about the connection */
async function dial(host: Awaited<ReturnType<typeof startHost>>, own: Credentials): Promise<string> {
  const before = host.output().length;
  try {
    const pipe = await connectTo(parseNetworkAddress(host.address), own);
    await until(() => /^(?:admitted|refused) /m.test(host.output().slice(before)));
    pipe.destroy();
    return /^(?:admitted|refused) .*$/m.exec(host.output().slice(before))![0];
  } catch (error) {
    return (error as Error).message;
  }
}

test("a host enrols from a process of its own, and keeps its key", async () => {
  const host = await startHost("");
  expect(await dial(host, issueCredentials(job, "viceroy://job-1/driver"))).toBe("admitted viceroy://job-1/driver");
  const certificate = new X509Certificate(readFileSync(path.join(host.place, "certificate.pem")));
  expect(certificate.subjectAltName).toBe(`URI:${identity}`);
});

test.skipIf(faketime === undefined).each(["+7h", "-20h"])("a host whose clock is wrong by %s works", async (offset) => {
  const host = await startHost(offset);
  expect(Math.abs(host.clock - Date.now())).toBeGreaterThan(6 * hour);
  const own = issueCredentials(job, "viceroy://job-1/driver", 8 * hour);
  expect(await dial(host, own)).toBe("admitted viceroy://job-1/driver");
});

const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`;

test.skipIf(faketime === undefined).each([
  ["+2d", "2 days ahead of", "12 hours"],
  ["-25h", "25 hours behind", "24 hours"],
])("a host whose clock is wrong by %s says so when it enrols, and by how much", async (offset, wrong, most) => {
  await expect(startHost(offset)).rejects.toThrow(
    new RegExp(
      `cannot enrol as ${identity}: the clock of this machine is ${wrong} that of the issuer: it says ${time}, and the ` +
        `issuer's ${time}; set the clock of one of them, for instance by NTP: at most ${most} are possible\n`,
    ),
  );
});

/** Returns an authority of the same job whose clock is wrong. @param shift in ms */
function shifted(shift: number): Authority {
  job.save(path.join(folder, "shifted"));
  return Authority.load(path.join(folder, "shifted"), { epochMs: () => Date.now() + shift });
}

test("a host that refuses the certificate of a driver because of the time says both times", async () => {
  const host = await startHost("");
  for (const [shift, text] of [
    [-48 * hour, `CERT_HAS_EXPIRED; the certificate was valid until ${time}`],
    [48 * hour, `CERT_NOT_YET_VALID; the certificate is valid from ${time}`],
  ] as const) {
    expect(await dial(host, issueCredentials(shifted(shift), "viceroy://job-1/driver"))).toMatch(
      new RegExp(
        `^refused it has shown no certificate that can be trusted: ${text}, and the clock of this machine says ${time}; ` +
          "compare the clocks of both machines$",
      ),
    );
  }
});

test("a process that refuses the certificate of a host because of the time says both times", async () => {
  for (const [shift, text] of [
    [-48 * hour, `certificate has expired; the certificate was valid until ${time}`],
    [48 * hour, `certificate is not yet valid; the certificate is valid from ${time}`],
  ] as const) {
    const credentials = issueCredentials(shifted(shift), identity);
    const listener = await listenAt({ kind: "tls", host: "127.0.0.1", port: 0 }, (pipe) => pipe.destroy(), {
      credentials,
    });
    listeners.push(listener);
    const address = parseNetworkAddress(`${formatNetworkAddress(listener.address)}#${identity}`);
    await expect(connectTo(address, issueCredentials(job, "viceroy://job-1/driver"))).rejects.toThrow(
      new RegExp(
        `^this process does not trust the certificate of the host: ${text}, and the clock of this machine says ${time}; ` +
          "compare the clocks of both machines$",
      ),
    );
  }
});
