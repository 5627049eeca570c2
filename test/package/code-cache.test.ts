/** Checks that a code cache is used only if it is intact and only this user could have written it. */
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { cacheFilePath, readCache, writeCache } from "../../runtime/bundle/code-cache.js";

let home: string;
const before = { ...process.env };

beforeEach(() => {
  home = fs.mkdtempSync(path.join(tmpdir(), "viceroy-cache-test-"));
  process.env["XDG_CACHE_HOME"] = home;
  delete process.env["NODE_V8_COVERAGE"];
  delete process.env["NODE_DISABLE_COMPILE_CACHE"];
});
afterEach(() => {
  process.env = { ...before };
  fs.rmSync(home, { recursive: true, force: true });
});

const data = Buffer.from(Array.from({ length: 10_000 }, (_, i) => (i * 31) & 255));

/** Writes a script and its cache file, and returns the path of the cache file. */
function written(): string {
  const script = path.join(home, "script.cjs");
  fs.writeFileSync(script, "exports.answer = 42;");
  const file = cacheFilePath(script, "main")!;
  writeCache(file, data);
  return file;
}

test("a cache file is read back byte for byte, and only this user can read or write it", () => {
  const file = written();
  expect(readCache(file)).toEqual(data);
  expect(fs.statSync(file).mode & 0o777).toBe(0o600);
  expect(fs.statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
  expect(path.dirname(file)).toBe(path.join(home, "viceroy"));
});

test("a cache file with a changed, missing or additional byte is not used", () => {
  const file = written();
  const intact = fs.readFileSync(file);
  fc.assert(
    fc.property(fc.nat(intact.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
      const changed = Buffer.from(intact);
      changed[at]! ^= flip;
      fs.writeFileSync(file, changed);
      expect(readCache(file)).toBeUndefined();
    }),
  );
  for (const length of [0, 1, 7, 8, 9, 4096, intact.length - 1]) {
    fs.writeFileSync(file, intact.subarray(0, length));
    expect(readCache(file)).toBeUndefined();
  }
  fs.writeFileSync(file, Buffer.concat([intact, Buffer.alloc(1)]));
  expect(readCache(file)).toBeUndefined();
  fs.writeFileSync(file, intact);
  expect(readCache(file)).toEqual(data);
});

test("a cache file or directory that other users may write is not used", () => {
  const file = written();
  fs.chmodSync(file, 0o620);
  expect(readCache(file)).toBeUndefined();
  fs.chmodSync(file, 0o600);
  fs.chmodSync(path.dirname(file), 0o777);
  expect(readCache(file)).toBeUndefined();
  fs.rmSync(file);
  writeCache(file, data);
  expect(fs.existsSync(file)).toBe(false);
});

test("a symbolic link in place of a cache file is not followed", () => {
  const file = written();
  const elsewhere = path.join(home, "elsewhere");
  fs.renameSync(file, elsewhere);
  fs.symlinkSync(elsewhere, file);
  expect(readCache(file)).toBeUndefined();
});

test("a cache folder that cannot be created causes no error", () => {
  const file = path.join(home, "plain-file", "viceroy", "cache");
  fs.writeFileSync(path.join(home, "plain-file"), "");
  expect(() => writeCache(file, data)).not.toThrow();
  expect(readCache(file)).toBeUndefined();
});

test("an edited script, other Node.js options and another use each have a cache file of their own", () => {
  const script = path.join(home, "script.cjs");
  fs.writeFileSync(script, "exports.answer = 42;");
  const first = cacheFilePath(script, "main");
  expect(cacheFilePath(script, "main")).toBe(first);
  expect(cacheFilePath(script, "child")).not.toBe(first);
  process.env["NODE_OPTIONS"] = "--max-old-space-size=100";
  expect(cacheFilePath(script, "main")).not.toBe(first);
  delete process.env["NODE_OPTIONS"];
  fs.utimesSync(script, 1, 1);
  expect(cacheFilePath(script, "main")).not.toBe(first);
});

test("cacheFilePath returns undefined when NODE_DISABLE_COMPILE_CACHE is set", () => {
  const script = path.join(home, "script.cjs");
  fs.writeFileSync(script, "");
  process.env["NODE_DISABLE_COMPILE_CACHE"] = "1";
  expect(cacheFilePath(script, "main")).toBeUndefined();
});

test("writeCache deletes old files, so that at most 48 remain", () => {
  const file = written();
  for (let i = 0; i < 60; i++) writeCache(`${file}-${i}`, data);
  expect(fs.readdirSync(path.dirname(file)).length).toBe(48);
  expect(readCache(`${file}-59`)).toEqual(data);
});

test("a cache home that belongs to another user is not used", () => {
  process.env["XDG_CACHE_HOME"] = "/usr";
  process.env["HOME"] = home;
  const script = path.join(home, "script.cjs");
  fs.writeFileSync(script, "");
  const isOurs = execFileSync("id", ["-u"], { encoding: "utf8" }).trim() === String(fs.statSync("/usr").uid);
  expect(cacheFilePath(script, "main")!.startsWith(isOurs ? "/usr" : home)).toBe(true);
});

test("all names of one file have one cache, and a copy, an edit and a file in its place have others", () => {
  const script = path.join(home, "script.cjs");
  fs.writeFileSync(script, "exports.answer = 42;");
  const { atime, mtime } = fs.statSync(script);
  const folder = path.join(home, "later");
  fs.mkdirSync(folder);
  const link = path.join(folder, "script.cjs");
  fs.linkSync(script, link);
  const of = (file: string) => cacheFilePath(file, "main");
  const first = of(script);
  expect(of(link)).toBe(first);
  const copied = path.join(home, "copied");
  fs.mkdirSync(copied);
  fs.copyFileSync(script, path.join(copied, "script.cjs"));
  fs.utimesSync(path.join(copied, "script.cjs"), atime, mtime);
  expect(of(path.join(copied, "script.cjs"))).not.toBe(first);
  fs.writeFileSync(link, "exports.answer = 43!;");
  expect(of(script)).not.toBe(first);
  // The system may give the number of the removed file to the next one. Stores write all files with one time.
  fs.rmSync(script);
  fs.rmSync(link);
  fs.writeFileSync(script, "exports.answer = 44;");
  fs.utimesSync(script, atime, mtime);
  expect(of(script)).not.toBe(first);
});
