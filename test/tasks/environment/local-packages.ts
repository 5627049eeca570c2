/** Packages of npm that are files on this machine, so that tests install them without a registry. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Writes files, whose folders are created. @param files texts by the paths in the folder */
export function writeFiles(folder: string, files: Readonly<Record<string, string | object>>): void {
  for (const [name, content] of Object.entries(files)) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  }
}

/** Makes the package that npm would make of the files, and returns its path. */
function pack(folder: string, name: string, version: string, files: Readonly<Record<string, string | object>>): string {
  const sources = mkdtempSync(join(tmpdir(), "pack-"));
  writeFiles(join(sources, "package"), files);
  const file = join(folder, `${name}-${version}.tgz`);
  execFileSync("tar", ["-czf", file, "-C", sources, "package"]);
  return file;
}

/** A folder with packages. */
export interface LocalPackages {
  readonly folder: string;
  /** The path of a package that is a CommonJS module, exports its version as `version`, and has the command `tidy`. */
  readonly cjs: string;
  /** The path of a package that is an ES module, and uses the other one. */
  readonly esm: string;
}

/** Makes `tidy-cjs` and `tidy-esm` in a version. */
export function makePackages(version: string): LocalPackages {
  const folder = mkdtempSync(join(tmpdir(), "packages-"));
  const cjs = pack(folder, "tidy-cjs", version, {
    "package.json": {
      name: "tidy-cjs",
      version,
      main: "main.js",
      bin: { tidy: "tidy.js" },
      scripts: { install: "touch script-has-run" },
    },
    "main.js": `exports.version = "cjs ${version}";`,
    "tidy.js": `#!/usr/bin/env node\nconsole.log("command ${version}");\n`,
  });
  const esm = pack(folder, "tidy-esm", version, {
    "package.json": {
      name: "tidy-esm",
      version,
      type: "module",
      exports: { ".": "./index.js", "./part": "./part.js" },
      dependencies: { "tidy-cjs": ">=1" },
    },
    "index.js": `import cjs from "tidy-cjs";\nexport const version = "esm ${version} with " + cjs.version;`,
    "part.js": `export default "part ${version}";`,
  });
  return { folder, cjs, esm };
}

/** Makes a folder with the package.json and the lock of a project that has both packages. */
export function makeLock(version: string): string {
  const { folder } = makePackages(version);
  const project = join(folder, "project");
  writeFiles(project, {
    "package.json": {
      name: "project",
      version: "3.2.1",
      dependencies: {
        "tidy-cjs": `file:../tidy-cjs-${version}.tgz`,
        "tidy-esm": `file:../tidy-esm-${version}.tgz`,
      },
    },
  });
  const options = ["--package-lock-only", "--offline", "--no-audit", "--no-fund", "--silent"];
  execFileSync("npm", ["install", ...options], { cwd: project, stdio: ["ignore", "ignore", "inherit"] });
  return project;
}

/** Makes a folder with the package.json and the lock of a project whose only package does not exist. */
export function makeBrokenLock(): string {
  const project = mkdtempSync(join(tmpdir(), "project-"));
  const entry = { version: "1.0.0", resolved: "file:/none/a.tgz", integrity: "sha512-AAAA" };
  const dependencies = { a: "file:/none/a.tgz" };
  writeFiles(project, {
    "package.json": { dependencies },
    "package-lock.json": { lockfileVersion: 3, packages: { "": { dependencies }, "node_modules/a": entry } },
  });
  return project;
}
