/** Tests of the installation of npm packages by real processes that share a cache, with a real npm and without a registry. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { removeUnused } from "../../../runtime/tasks/environment/install-packages.js";
import { lockPackages } from "../../../runtime/tasks/environment/lock-packages.js";
import { RuntimeEnv } from "../../../runtime/tasks/environment/runtime-env.js";
import { gone, until } from "../../proc/until.js";
import { makeBrokenLock, makeLock, writeFiles } from "./local-packages.js";

const installer = fileURLToPath(new URL("installer.ts", import.meta.url));

/** The file with the packages of a lock. */
let packages: string;
beforeAll(async () => {
  packages = await fileOf(makeLock("1.0.0"));
});

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

async function fileOf(project: string): Promise<string> {
  const file = join(mkdtempSync(join(tmpdir(), "locked-")), "packages.json");
  writeFileSync(file, JSON.stringify(await lockPackages(new RuntimeEnv({ packages: { lock: project } }))));
  return file;
}

/** An empty cache, and a `npm` that notes each of its starts. */
class Cache {
  readonly folder = mkdtempSync(join(tmpdir(), "cache-"));
  readonly #bin = mkdtempSync(join(tmpdir(), "bin-"));

  constructor() {
    const real = process.env["PATH"];
    this.setNpm(`PATH='${real}' exec npm "$@"`);
  }

  /** @param does what npm does after the note, in the shell */
  setNpm(does: string): void {
    const npm = join(this.#bin, "npm");
    writeFileSync(npm, `#!/bin/sh\necho "$$ $*" >> "${this.#bin}/starts"\n${does}\n`);
    chmodSync(npm, 0o755);
  }

  /** Returns the commands with which npm was started, each with its process first. */
  get starts(): string[][] {
    const file = join(this.#bin, "starts");
    if (!existsSync(file)) return [];
    return readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .map((line) => line.split(" "));
  }

  get names(): string[] {
    const folder = join(this.folder, "viceroy/packages");
    return readdirSync(folder).filter((name) => name !== "locks");
  }

  install(file = packages): { readonly child: ChildProcess; readonly printed: Promise<string> } {
    const env = { ...process.env, XDG_CACHE_HOME: this.folder, PATH: `${this.#bin}${delimiter}${process.env["PATH"]}` };
    const child = spawn(process.execPath, ["--import", "tsx", installer, file], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(child);
    return { child, printed: text(child.stdout).then((all) => all.trim()) };
  }
}

describe("the packages of a lock", () => {
  test("are installed once, also for processes that start together, and again for another lock", async () => {
    const cache = new Cache();
    const folders = await Promise.all(Array.from({ length: 4 }, () => cache.install().printed));
    expect(new Set(folders).size).toBe(1);
    expect(await cache.install().printed).toBe(folders[0]);
    expect(cache.starts.map(([, command]) => command)).toEqual(["ci"]);
    const module = join(folders[0]!, "node_modules/tidy-cjs");
    expect(JSON.parse(readFileSync(join(module, "package.json"), "utf8")).version).toBe("1.0.0");
    // Packages run no scripts.
    expect(existsSync(join(module, "script-has-run"))).toBe(false);
    const other = await cache.install(await fileOf(makeLock("1.1.0"))).printed;
    expect(other).not.toBe(folders[0]);
    expect(cache.starts.map(([, command]) => command)).toEqual(["ci", "ci"]);
    expect(cache.names).toHaveLength(2);
  });

  test("are complete or not there when an installation is killed, and the next one makes them", async () => {
    const cache = new Cache();
    cache.setNpm("mkdir -p node_modules/tidy-cjs && echo half > node_modules/tidy-cjs/main.js && exec sleep 600");
    const { child } = cache.install();
    await until(() => cache.starts.length === 1);
    const npm = Number(cache.starts[0]![0]);
    await until(() =>
      existsSync(join(cache.folder, "viceroy/packages", cache.names[0]!, "node_modules/tidy-cjs/main.js")),
    );
    expect(cache.names).toEqual([expect.stringMatching(/\.new$/)]);
    child.kill("SIGKILL");
    await until(() => gone(child.pid!));
    process.kill(npm, "SIGKILL");
    cache.setNpm(`PATH='${process.env["PATH"]}' exec npm "$@"`);
    const folder = await cache.install().printed;
    expect(cache.names).toEqual([folder.split("/").at(-1)]);
    expect(readFileSync(join(folder, "node_modules/tidy-cjs/main.js"), "utf8")).toBe('exports.version = "cjs 1.0.0";');
  });

  test("that npm cannot install are an error with what npm has printed, and leave nothing", async () => {
    const cache = new Cache();
    expect(await cache.install(await fileOf(makeBrokenLock())).printed).toMatch(
      /^cannot install packages in \/.*\/viceroy\/packages\/[0-9a-f]{32}: npm ci has ended with \d+: .*ENOENT.*\/none\/a\.tgz/s,
    );
    expect(cache.names).toEqual([]);
  });

  test("need a npm", async () => {
    const cache = new Cache();
    const few = mkdtempSync(join(tmpdir(), "bin-"));
    for (const name of ["flock", "sh", "cat"]) {
      symlinkSync(execFileSync("which", [name], { encoding: "utf8" }).trim(), join(few, name));
    }
    const env = { ...process.env, XDG_CACHE_HOME: cache.folder, PATH: few };
    const child = spawn(process.execPath, ["--import", "tsx", installer, packages], { env });
    expect(await text(child.stdout)).toContain("cannot run npm: the program npm is not on this host");
  });
});

test("folders that nobody has used for a day are removed, except for the ten that were used last", () => {
  const root = mkdtempSync(join(tmpdir(), "unused-"));
  const now = Date.now();
  const hours = [...Array.from({ length: 9 }, (_, index) => index), 23, 25, 30, 20];
  for (const age of hours) {
    const folder = join(root, `used-${age}`);
    mkdirSync(folder);
    writeFiles(folder, { "node_modules/a.js": "" });
    const at = new Date(now - age * 3_600_000);
    utimesSync(folder, at, at);
  }
  mkdirSync(join(root, "locks"));
  utimesSync(join(root, "locks"), 0, 0);
  removeUnused(root, now);
  expect(readdirSync(root).sort()).toEqual(
    ["locks", ...hours.filter((age) => age < 24).map((age) => `used-${age}`)].sort(),
  );
  removeUnused(root, now + 48 * 3_600_000);
  expect(readdirSync(root)).toHaveLength(11);
  expect(statSync(join(root, "used-0")).isDirectory()).toBe(true);
});
