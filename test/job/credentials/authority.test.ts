/** Tests of the authority of a job. openssl judges its certificates. */
import { spawnSync } from "node:child_process";
import { createPublicKey, generateKeyPairSync, X509Certificate } from "node:crypto";
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Authority } from "../../../runtime/job/credentials/authority.js";
import type { Identity } from "../../../runtime/link/transport/tls/identity.js";

const folder = mkdtempSync(path.join(tmpdir(), "viceroy-authority-"));
afterAll(() => rmSync(folder, { recursive: true }));

const hour = 3_600_000;
const day = 24 * hour;
const host: Identity = { job: "job-1", role: "host", mesh: "trainers", rank: 3 };
let authority: Authority;
beforeAll(async () => {
  authority = Authority.create("job-1");
});

function publicKey(): string {
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return publicKey.export({ type: "spki", format: "pem" }) as string;
}

function write(name: string, text: string): string {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
}

function openssl(...args: string[]): { status: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync("openssl", args, { encoding: "utf8" });
  return { status, text: `${stdout}${stderr}` };
}

function verify(by: Authority, certificate: string, ...args: string[]) {
  return openssl(
    "verify",
    "-x509_strict",
    "-CAfile",
    write("ca.pem", by.certificate),
    ...args,
    write("leaf.pem", certificate),
  );
}

describe("openssl", () => {
  test("verifies the certificate of a host for both sides of a connection, and that of a driver for dialling only", async () => {
    const ofHost = authority.issue(publicKey(), host, { validFor: hour });
    const ofDriver = authority.issue(publicKey(), { job: "job-1", role: "driver" }, { validFor: hour });
    const both = ["sslclient", "sslserver"];
    expect(both.map((purpose) => verify(authority, ofHost, "-purpose", purpose).status)).toEqual([0, 0]);
    expect(both.map((purpose) => verify(authority, ofDriver, "-purpose", purpose).status)).toEqual([0, 2]);
  });

  test("does not verify a certificate of another job", async () => {
    const other = Authority.create("job-1");
    const certificate = other.issue(publicKey(), host, { validFor: hour });
    expect(verify(other, certificate).status).toBe(0);
    const { status, text } = verify(authority, certificate);
    expect([status, text]).toEqual([2, expect.stringContaining("unable to get local issuer certificate")]);
  });

  test("reads the identity, the purposes and the limits of the authority", async () => {
    const certificate = authority.issue(publicKey(), host, { validFor: hour });
    const { text } = openssl("x509", "-noout", "-text", "-in", write("text.pem", certificate));
    expect(text).toMatch(/X509v3 Basic Constraints: critical\s+CA:FALSE\n/);
    expect(text).toMatch(/X509v3 Key Usage: critical\s+Digital Signature\n/);
    expect(text).toMatch(/X509v3 Subject Alternative Name: \n\s+URI:viceroy:\/\/job-1\/hosts\/trainers\/3\n/);
    expect(text).toContain("Signature Algorithm: ecdsa-with-SHA256");
    const own = openssl("x509", "-noout", "-text", "-in", write("own.pem", authority.certificate)).text;
    expect(own).toMatch(/X509v3 Basic Constraints: critical\s+CA:TRUE, pathlen:0\n/);
    expect(own).toMatch(/X509v3 Key Usage: critical\s+Certificate Sign, CRL Sign\n/);
    expect(own).toMatch(/Subject: O = Viceroy job, CN = job-1\n/);
  });

  test("reads the times of certificates from the year 2050 on", async () => {
    const clock = { epochMs: () => Date.UTC(2060, 1, 3, 4, 5, 6, 789) };
    const late = Authority.create("job-1", clock);
    const certificate = late.issue(publicKey(), host, { validFor: 2 * day });
    const { text } = openssl("x509", "-noout", "-dates", "-in", write("late.pem", certificate));
    expect(text).toBe("notBefore=Feb  2 04:05:06 2060 GMT\nnotAfter=Feb  5 04:05:06 2060 GMT\n");
    expect(verify(late, certificate, "-attime", `${Math.floor((clock.epochMs() - day + hour) / 1000)}`).status).toBe(0);
    expect(verify(late, certificate).text).toContain("certificate is not yet valid");
  });
});

test("certificates have different serial numbers", async () => {
  const key = publicKey();
  const issue = async () => new X509Certificate(authority.issue(key, host, { validFor: hour })).serialNumber;
  expect(await issue()).not.toBe(await issue());
});

test("an authority that was saved signs for the same job", async () => {
  const place = path.join(folder, "saved", "deep");
  authority.save(place);
  authority.save(place);
  expect(readdirSync(place).sort()).toEqual(["authority.key", "authority.pem"]);
  const modeOf = (name: string) => (statSync(path.join(place, name)).mode & 0o777).toString(8);
  expect(["", "authority.key", "authority.pem"].map(modeOf)).toEqual(["700", "600", "600"]);
  const loaded = Authority.load(place);
  expect([loaded.job, loaded.certificate]).toEqual(["job-1", authority.certificate]);
  expect(verify(authority, loaded.issue(publicKey(), host, { validFor: hour })).status).toBe(0);
});

describe("an authority is not loaded", () => {
  test("if other users can read its key or write its folder", () => {
    const place = path.join(folder, "open");
    authority.save(place);
    const file = path.join(place, "authority.key");
    chmodSync(file, 0o640);
    expect(() => Authority.load(place)).toThrow(
      new Error(`cannot use ${file}: other users have access to it; run chmod 600 on it, got mode 640`),
    );
    chmodSync(place, 0o755);
    expect(() => authority.save(place)).toThrow(
      new Error(`cannot keep keys in ${place}: other users have access to it; run chmod 700 on it, got mode 755`),
    );
  });

  test("if its files are missing, malformed or not of one authority", async () => {
    const place = path.join(folder, "mixed");
    const file = path.join(place, "authority.pem");
    expect(() => Authority.load(place)).toThrow(/^cannot read .*authority\.key: ENOENT/);
    authority.save(place);
    writeFileSync(file, Authority.create("job-2").certificate);
    expect(() => Authority.load(place)).toThrow(
      new Error(`cannot load the authority of a job from ${place}: the key is not that of the certificate`),
    );
    writeFileSync(file, "no certificate");
    expect(() => Authority.load(place)).toThrow(`cannot load the authority of a job from ${place}: `);
  });
});

describe("an authority refuses", () => {
  const uri = "viceroy://job-1/hosts/trainers/3";
  test("the identity of another job", async () => {
    expect(() => authority.issue(publicKey(), { ...host, job: "job-2" }, { validFor: hour })).toThrow(
      new TypeError(
        "cannot sign a certificate for viceroy://job-2/hosts/trainers/3: this is the authority of job job-1",
      ),
    );
    expect(() => Authority.create("a job")).toThrow(/^cannot read an identity: .* got "viceroy:\/\/a job\/driver"$/);
  });

  test("keys that are malformed or of another kind", async () => {
    expect(() => authority.issue("no key", host, { validFor: hour })).toThrow(
      `cannot sign a certificate for ${uri}: cannot read its public key: `,
    );
    for (const [kind, got] of [
      [generateKeyPairSync("rsa", { modulusLength: 2048 }), "rsa"],
      [generateKeyPairSync("ec", { namedCurve: "secp384r1" }), "ec secp384r1"],
    ] as const) {
      const key = createPublicKey(kind.privateKey).export({ type: "spki", format: "pem" }) as string;
      expect(() => authority.issue(key, host, { validFor: hour })).toThrow(
        new TypeError(
          `cannot sign a certificate for ${uri}: expected a public key on the curve prime256v1, got ${got}`,
        ),
      );
    }
  });

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 4000 * day])("a lifetime of %d ms", async (validFor) => {
    expect(() => authority.issue(publicKey(), host, { validFor })).toThrow(
      /^cannot sign a certificate for viceroy:.*: expected validFor in milliseconds, from 1000 to \d+, got /,
    );
  });
});
