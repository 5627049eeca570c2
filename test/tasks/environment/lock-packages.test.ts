/** Tests of reading locks of npm packages, with a real npm and without a registry. */
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { taskEnvironmentOf } from "../../../runtime/tasks/environment/index.js";
import { lockPackages } from "../../../runtime/tasks/environment/lock-packages.js";
import { RuntimeEnv } from "../../../runtime/tasks/environment/runtime-env.js";
import { makeLock, makePackages, writeFiles } from "./local-packages.js";

let project: string;
beforeAll(() => {
  project = makeLock("1.0.0");
});

const locked = (lock: string, packageRequirements: string[] = []) =>
  lockPackages(new RuntimeEnv({ packages: { lock }, packageRequirements }));

/** Returns a new folder with a package.json and a lock. */
function folderWith(manifest: object, lock: string | object): string {
  const folder = mkdtempSync(join(tmpdir(), "lock-"));
  writeFiles(folder, { "package.json": manifest, "package-lock.json": lock });
  return folder;
}

describe("the packages of a lock", () => {
  test("are read from the file or its folder, and do not depend on the folder", async () => {
    const packages = (await locked(project))!;
    expect(await locked(join(project, "package-lock.json"))).toEqual(packages);
    const lock = JSON.parse(packages.lock).packages;
    expect(Object.keys(lock)).toEqual(["", "node_modules/tidy-cjs", "node_modules/tidy-esm"]);
    const tarball = `file:${join(project, "../tidy-cjs-1.0.0.tgz")}`;
    expect(lock["node_modules/tidy-cjs"].resolved).toBe(tarball);
    expect(lock[""].dependencies["tidy-cjs"]).toBe(tarball);
    expect(JSON.parse(packages.manifest).dependencies["tidy-cjs"]).toBe(tarball);
  });

  test("do not change with the other fields of package.json, and with packages for development", async () => {
    const manifest = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
    const lock = JSON.parse(readFileSync(join(project, "package-lock.json"), "utf8"));
    const development = { version: "9.9.9", resolved: "https://example.com/lint.tgz", dev: true };
    writeFiles(project, {
      "other/package.json": { ...manifest, name: "other", version: "9.0.0", devDependencies: { lint: "9" } },
      "other/package-lock.json": {
        ...lock,
        name: "other",
        packages: { ...lock.packages, "node_modules/lint": development },
      },
    });
    const other = (await locked(join(project, "other")))!;
    const here = (await locked(project))!;
    expect(JSON.parse(other.lock.replaceAll("project/tidy", "tidy"))).toEqual(JSON.parse(here.lock));
  });

  test("contain further packages in the versions that npm finds out once", async () => {
    const { cjs } = makePackages("2.0.0");
    const environment = new RuntimeEnv({ packageRequirements: [cjs] });
    const alone = await taskEnvironmentOf(environment);
    expect(JSON.parse(alone.packages!.lock).packages["node_modules/tidy-cjs"].version).toBe("2.0.0");
    expect(await taskEnvironmentOf(environment)).toBe(alone);
    const both = (await locked(project, [cjs]))!;
    const { "node_modules/tidy-cjs": one, "node_modules/tidy-esm": other } = JSON.parse(both.lock).packages;
    expect([one.version, other.version]).toEqual(["2.0.0", "1.0.0"]);
  });

  test("are absent if there are none", async () => {
    expect(await taskEnvironmentOf(new RuntimeEnv({ env: { A: "1" }, workingDirectory: "/srv" }))).toEqual({
      env: { A: "1" },
      workingDirectory: "/srv",
    });
  });

  test("that do not exist are an error", async () => {
    await expect(lockPackages(new RuntimeEnv({ packageRequirements: ["./none-1.0.0.tgz"] }))).rejects.toThrow(
      /^cannot find out the versions of file:.*none-1\.0\.0\.tgz: npm install has ended with [0-9]+: .*ENOENT/s,
    );
  });
});

describe("a lock that cannot be used is an error that names the file:", () => {
  test("one that is not there", async () => {
    await expect(locked("/none/package-lock.json")).rejects.toThrow(
      "cannot use the packages of a RuntimeEnv: ENOENT: no such file or directory, stat '/none/package-lock.json'",
    );
  });

  test("one without a package.json", async () => {
    const folder = mkdtempSync(join(tmpdir(), "lock-"));
    writeFiles(folder, { "package-lock.json": { lockfileVersion: 3, packages: {} } });
    await expect(locked(folder)).rejects.toThrow(`${folder}/package.json: ENOENT`);
  });

  test("one that is not JSON", async () => {
    const folder = folderWith({}, "<<<<<<< HEAD");
    await expect(locked(folder)).rejects.toThrow(
      `cannot use the packages of a RuntimeEnv: ${folder}/package-lock.json: `,
    );
  });

  test("one of an old npm", async () => {
    const folder = folderWith({}, { lockfileVersion: 1, dependencies: {} });
    await expect(locked(folder)).rejects.toThrow(
      `expected ${folder}/package-lock.json as a lock of npm 7 or newer, got lockfileVersion 1`,
    );
  });

  test("one with a link to a folder of the project", async () => {
    const link = { resolved: "packages/a", link: true };
    const folder = folderWith({}, { lockfileVersion: 3, packages: { "node_modules/a": link, "packages/a": {} } });
    await expect(locked(folder)).rejects.toThrow(
      `${folder}/package-lock.json links node_modules/a to the folder packages/a; make a package of it by npm pack, and install that`,
    );
  });
});
