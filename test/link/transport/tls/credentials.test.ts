/** Tests that certificate files are read again after a change, stay in use while missing, and are named in errors. */
import { mkdirSync, mkdtempSync, rmSync, unlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { FileCredentials, type TlsFiles } from "../../../../runtime/link/transport/tls/credentials.js";

const folder = mkdtempSync(path.join(tmpdir(), "viceroy-credentials-"));
afterAll(() => rmSync(folder, { recursive: true }));

const kinds = [
  ["cert", "certificate"],
  ["key", "key"],
  ["ca", "authority"],
] as const;

let files: TlsFiles;
let count = 0;

beforeEach(() => {
  const own = path.join(folder, `${count++}`);
  mkdirSync(own);
  files = { cert: `${own}/cert`, key: `${own}/key`, ca: `${own}/ca` };
  for (const [kind] of kinds) writeFileSync(files[kind], `the ${kind}`);
});

const texts = ({ cert, key, ca }: { cert: Buffer; key: Buffer; ca: Buffer }) => [`${cert}`, `${key}`, `${ca}`];

test("certificate files that do not change are read only once", () => {
  const credentials = new FileCredentials(files);
  const first = credentials.current();
  expect(texts(first)).toEqual(["the cert", "the key", "the ca"]);
  expect(credentials.current()).toBe(first);
});

describe.each(kinds)("the file of the %s", (kind, name) => {
  test("is read again after a change of its content and size", () => {
    const credentials = new FileCredentials(files);
    const first = credentials.current();
    writeFileSync(files[kind], "another one, of another size");
    const next = credentials.current();
    expect([next[kind].toString(), next === first]).toEqual(["another one, of another size", false]);
    expect(credentials.current()).toBe(next);
  });

  test("is read again after a change of its content that keeps its size", () => {
    const credentials = new FileCredentials(files);
    credentials.current();
    const text = `${kind} now`.padEnd(`the ${kind}`.length);
    writeFileSync(files[kind], text);
    utimesSync(files[kind], 1000, 1000);
    expect(`${credentials.current()[kind]}`).toBe(text);
  });

  test("is named in the error if it is missing or a directory", () => {
    unlinkSync(files[kind]);
    const missing = () => new FileCredentials(files).current();
    const gone = `ENOENT: no such file or directory, stat '${files[kind]}'`;
    expect(missing).toThrow(new Error(`cannot read the ${name} for TLS from ${files[kind]}: ${gone}`));
    expect(missing).toThrow(expect.objectContaining({ cause: expect.objectContaining({ code: "ENOENT" }) }));
    mkdirSync(files[kind]);
    const directory = "EISDIR: illegal operation on a directory, read";
    expect(missing).toThrow(new Error(`cannot read the ${name} for TLS from ${files[kind]}: ${directory}`));
  });

  test("stays in use while it is missing, and is read again when it is back", () => {
    const credentials = new FileCredentials(files);
    const first = credentials.current();
    unlinkSync(files[kind]);
    expect(credentials.current()).toBe(first);
    writeFileSync(files[kind], "back");
    expect(`${credentials.current()[kind]}`).toBe("back");
  });
});

test("rejected certificate files are not used again until they change once more", () => {
  const credentials = new FileCredentials(files);
  const good = credentials.current();
  writeFileSync(files.cert, "no certificate");
  credentials.current();
  credentials.keepUsing(good);
  expect(credentials.current()).toBe(good);
  writeFileSync(files.cert, "a certificate again");
  expect(`${credentials.current().cert}`).toBe("a certificate again");
});
