/** Tests of `hostsFromConfig`, and of its errors for invalid files. */
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hostsFromConfig } from "viceroy";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Crew, loadCrew } from "../proc/crew.js";
import { startHost } from "./start-host.js";

let crew: Crew;
beforeAll(async () => {
  crew = await loadCrew();
});

const token = "a token of more than enough characters";
const { VICEROY_HOSTS: before } = process.env;
const startedIn = process.cwd();
afterEach(() => {
  process.chdir(startedIn);
  if (before === undefined) delete process.env["VICEROY_HOSTS"];
  else process.env["VICEROY_HOSTS"] = before;
});

function fileWith(config: unknown): string {
  const file = join(realpathSync(mkdtempSync(join(tmpdir(), "vhc-"))), "viceroy.hosts.json");
  writeFileSync(file, typeof config === "string" ? config : JSON.stringify(config));
  return file;
}

test("hosts are attached by name from a file in a parent folder, with the options of the file", async () => {
  const tokenFile = join(mkdtempSync(join(tmpdir(), "vhc-")), "token");
  writeFileSync(tokenFile, `${token}\n`);
  const [first, second] = await Promise.all([
    startHost("tcp://127.0.0.1:0", ["--token-file", tokenFile]),
    startHost("tcp://127.0.0.1:0", ["--token-file", tokenFile]),
  ]);
  const file = fileWith({
    workers: { addresses: [first.address, second.address], tokenFile: "secrets/token", timeout: 30_000 },
  });
  mkdirSync(join(file, "../secrets"));
  writeFileSync(join(file, "../secrets/token"), token);
  mkdirSync(join(file, "../app/src"), { recursive: true });
  process.chdir(join(file, "../app/src"));

  const hosts = hostsFromConfig("workers", { dimension: "machines" });
  expect(hosts.extent).toEqual({ machines: 2 });
  const procs = hosts.spawnProcs({ gpus: 2 });
  const workers = procs.spawn("workers", crew.SteelWorker);
  const pids = [...(await workers.where.call()).values()].map(({ pid }) => pid);
  expect(new Set(pids).size).toBe(4);
  await hosts.stop();
});

test("an entry may be a list of addresses, and VICEROY_HOSTS names the file", async () => {
  const host = await startHost();
  process.env["VICEROY_HOSTS"] = fileWith({ one: [host.address] });
  const hosts = hostsFromConfig("one");
  await hosts.ready;
  expect(hosts.extent).toEqual({ hosts: 1 });
  await hosts.stop();
});

describe("errors name the file", () => {
  test("no file", () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "vhc-")));
    process.chdir(folder);
    expect(() => hostsFromConfig("trainers")).toThrow(
      `cannot attach hosts "trainers": there is no viceroy.hosts.json in ${folder} or above it. Write one, such as ` +
        '{ "trainers": ["tcp://host:26600"] }, or name another file by VICEROY_HOSTS',
    );
    process.env["VICEROY_HOSTS"] = "nowhere.json";
    expect(() => hostsFromConfig("trainers")).toThrow(
      `cannot attach hosts "trainers": ${folder}/nowhere.json cannot be read: ENOENT`,
    );
  });

  test.each([
    ["[", "FILE cannot be read: "],
    ["[]", "FILE must have an object, got "],
    ["{}", "FILE has no hosts"],
    [{ loaders: [], "": [] }, 'FILE has "loaders", "" alone'],
    [{ trainers: "tcp://n1" }, 'FILE must have a list of addresses there, or an object, got "tcp://n1"'],
  ])("%j", (config, why) => {
    const file = fileWith(config);
    process.env["VICEROY_HOSTS"] = file;
    expect(() => hostsFromConfig("trainers")).toThrow(`cannot attach hosts "trainers": ${why.replace("FILE", file)}`);
  });

  test.each([
    [[], "cannot attach hosts: expected at least one address, got none"],
    [{}, "cannot attach hosts: expected a list of addresses, got undefined"],
    [["n1:26600"], 'cannot read address "n1:26600": expected tcp://host:port, tls://host:port or unix:///path'],
    [
      { addresses: ["tcp://n1"], constructor: 1 },
      'expected some of addresses, tls, tokenFile, registry, timeout, silence, keepAlive, through, absence, readOnly, got "constructor"',
    ],
    [{ addresses: ["tcp://n1"], tls: "driver.pem" }, 'expected tls with cert, key and ca, got "driver.pem"'],
    [{ addresses: ["tcp://n1"], tls: { cert: "a", key: "b" } }, "expected a file as tls.ca, got undefined"],
    [{ addresses: ["tcp://n1"], tokenFile: 3 }, "expected a file as tokenFile, got 3"],
    [
      { addresses: ["tcp://n1"], silence: "2s" },
      'cannot attach hosts: expected silence in milliseconds, at least 300, got "2s"',
    ],
  ])("%j", (entry, why) => {
    const file = fileWith({ trainers: entry });
    process.env["VICEROY_HOSTS"] = file;
    expect(() => hostsFromConfig("trainers")).toThrow(`${why} (hosts "trainers" of ${file})`);
  });

  test("a token that is too short", () => {
    const file = fileWith({ trainers: { addresses: ["tcp://n1"], tokenFile: "token" } });
    writeFileSync(join(file, "../token"), "short");
    process.env["VICEROY_HOSTS"] = file;
    expect(() => hostsFromConfig("trainers")).toThrow(`(hosts "trainers" of ${file})`);
  });

  test("an invalid name", () => {
    expect(() => hostsFromConfig("")).toThrow(
      'cannot attach hosts: expected the name of an entry of viceroy.hosts.json, got ""',
    );
  });
});
