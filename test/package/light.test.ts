/** Installs the runtime package without the compiler, as production does, and checks what works and what explains itself. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newestVersions } from "./elsewhere/program.js";
import { application, installRuntime, ownAddon, packAll, root, run, succeed, type Tarballs } from "./packed.js";

const { version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as { version: string };
let folder: string;
let app: string;
let tarballs: Tarballs;
/** The addon that this user has built is not used, so that the prebuilt one is. */
let env: NodeJS.ProcessEnv;

const config = `import { defineConfig } from "viceroy/compiler";

export default defineConfig({ schemas: "schemas/*.ts" });
`;

beforeAll(async () => {
  folder = application("viceroy-light-");
  app = path.join(folder, "app");
  env = { XDG_CACHE_HOME: path.join(folder, "cache") };
  tarballs = await packAll();
  installRuntime(app, tarballs);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const viceroy = (...args: readonly string[]) =>
  run(process.execPath, [path.join(app, "node_modules/viceroy/dist/cli/viceroy.js"), ...args], app, env);

test("the runtime takes at most 3.7 MB and 5 packages", () => {
  const files = readdirSync(path.join(app, "node_modules"), { recursive: true, encoding: "utf8" }).filter((name) =>
    statSync(path.join(app, "node_modules", name)).isFile(),
  );
  const bytes = files.reduce((sum, name) => sum + statSync(path.join(app, "node_modules", name)).size, 0);
  expect(bytes).toBeLessThanOrEqual(3_700_000);
  const lock = JSON.parse(readFileSync(path.join(app, "node_modules/.package-lock.json"), "utf8")) as {
    packages: object;
  };
  expect(Object.keys(lock.packages).sort()).toEqual(
    ["node_modules/viceroy", ...(tarballs.addon === undefined ? [] : [`node_modules/${ownAddon}`])].sort(),
  );
});

test.runIf(ownAddon !== undefined)("the addon needs no newer libraries than Node.js 20", () => {
  const addon = path.join(app, "node_modules", `${ownAddon}`);
  const [file = ""] = readdirSync(addon).filter((name) => name.endsWith(".node"));
  expect(newestVersions(path.join(addon, file))).toEqual({ GLIBC: "2.28", GLIBCXX: "3.4.21", CXXABI: "1.3.9" });
});

test("every entry point can be imported without the compiler, and defineConfig returns its argument", () => {
  const names = ["viceroy", "viceroy/schema", "viceroy/codegen/v1", "viceroy/rdma", "viceroy/testing"];
  const program = `for (const name of ${JSON.stringify(names)}) await import(name);
    const { defineConfig } = await import("viceroy/compiler");
    console.log(JSON.stringify(defineConfig({ schemas: "schemas/*.ts" })));`;
  expect(run(process.execPath, ["--input-type=module", "--eval", program], app)).toEqual({
    code: 0,
    stdout: '{"schemas":"schemas/*.ts"}\n',
    stderr: "",
  });
});

test.each([
  ["init", []],
  ["compile", []],
  ["compile", ["--check"]],
  ["break", ["--against", "main"]],
  ["explain", ["VC1107"]],
  ["rename", ["Entry.ttl", "expiry"]],
  ["lock install", []],
  ["lock merge", []],
])("viceroy %s names the package that it requires", (command, args) => {
  expect(viceroy(...command.split(" "), ...args)).toEqual({
    code: 3,
    stdout: "",
    stderr:
      `cannot run viceroy ${command}: it requires the package @viceroy/compiler, which is not installed for ${app}. ` +
      "Run `npm install --save-dev @viceroy/compiler`\n",
  });
});

test("a compiler of another version is refused with both versions", () => {
  const other = path.join(app, "node_modules/@viceroy/compiler");
  mkdirSync(other, { recursive: true });
  writeFileSync(path.join(other, "package.json"), '{ "name": "@viceroy/compiler", "version": "99.0.0" }');
  try {
    expect(viceroy("compile")).toEqual({
      code: 3,
      stdout: "",
      stderr:
        `cannot run viceroy compile: viceroy ${version} requires @viceroy/compiler ${version}, got 99.0.0 in ${other}. ` +
        `Run \`npm install --save-dev @viceroy/compiler@${version}\`\n`,
    });
  } finally {
    rmSync(other, { recursive: true });
  }
});

describe("viceroy run", () => {
  const written: string[] = [];
  const write = (name: string, text: string) => {
    writeFileSync(path.join(app, name), text);
    written.push(name);
  };
  afterAll(() => {
    for (const name of written) rmSync(path.join(app, name), { force: true });
  });

  test("runs a program without a config", () => {
    write("main.js", 'console.log("ran", process.argv[2]);\n');
    expect(viceroy("run", "main.js", "it")).toEqual({ code: 0, stdout: "ran it\n", stderr: "" });
  });

  test("runs a program beside a config in JavaScript", () => {
    write("viceroy.config.mjs", config);
    expect(viceroy("run", "main.js", "it")).toEqual({ code: 0, stdout: "ran it\n", stderr: "" });
  });

  test("reports an invalid config in JavaScript", () => {
    write("viceroy.config.mjs", "export default { target: 1, schemas: [] };\n");
    expect(viceroy("run", "main.js")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('cannot use viceroy.config.mjs: unknown key "target"'),
    });
    rmSync(path.join(app, "viceroy.config.mjs"));
  });

  test("a config in TypeScript is read where Node.js or tsx can, and is an error otherwise", () => {
    write("viceroy.config.ts", config);
    const stripsTypes = (process.features as { typescript?: unknown }).typescript;
    expect(viceroy("run", "main.js", "it")).toEqual(
      stripsTypes
        ? expect.objectContaining({ code: 0, stdout: "ran it\n" })
        : {
            code: 3,
            stdout: "",
            stderr:
              "cannot load viceroy.config.ts: reading TypeScript needs @viceroy/compiler, tsx or Node.js 22.18, and none of " +
              "them is there. Run `npm install --save-dev @viceroy/compiler`, or leave the file out of production\n",
          },
    );
    // An installation of tsx in a folder above is found as well.
    for (const name of ["tsx", "esbuild", "@esbuild", "get-tsconfig", "resolve-pkg-maps"]) {
      const from = path.join(root, "node_modules", name);
      if (existsSync(from)) cpSync(from, path.join(folder, "node_modules", name), { recursive: true });
    }
    expect(viceroy("run", "main.js", "it")).toMatchObject({ code: 0, stdout: "ran it\n" });
    rmSync(path.join(folder, "node_modules"), { recursive: true });
    rmSync(path.join(app, "viceroy.config.ts"));
  });
});

describe("viceroy doctor", () => {
  test("reports that this installation cannot compile, which is no problem", () => {
    writeFileSync(path.join(app, "viceroy.config.ts"), config);
    const { code, stdout } = viceroy("doctor");
    rmSync(path.join(app, "viceroy.config.ts"));
    expect(stdout).toContain(
      "note    @viceroy/compiler not found: this installation runs programs, and cannot compile schemas\n" +
        "        to compile here, run `npm install --save-dev @viceroy/compiler`\n",
    );
    expect(code).toBe(0);
  });

  test.runIf(ownAddon !== undefined)(
    "names the addon of the optional package, through which processes are linked",
    () => {
      const addon = path.join(app, "node_modules", `${ownAddon}`);
      const { stdout } = viceroy("doctor");
      expect(stdout).toContain(`ok      RDMA addon ${addon}/viceroy-rdma-`);
      expect(stdout).toContain("ok      processes of this machine are linked through shared memory");
      expect(existsSync(path.join(folder, "cache/viceroy-addons"))).toBe(false);
    },
  );

  test.runIf(ownAddon !== undefined)(
    "an addon that was built from other sources is not loaded, and the reason is given",
    () => {
      const addon = path.join(app, "node_modules", `${ownAddon}`);
      const [file = ""] = readdirSync(addon).filter((name) => name.endsWith(".node"));
      renameSync(path.join(addon, file), path.join(addon, "other.node"));
      try {
        const { stdout } = viceroy("doctor");
        expect(stdout).toContain(
          `note    no RDMA addon: ${ownAddon} ${version} in ${addon} was built from the sources of another version\n`,
        );
        expect(stdout).toContain(`run \`npm install ${ownAddon}\`, or \`npx viceroy setup --rdma\``);
      } finally {
        renameSync(path.join(addon, "other.node"), path.join(addon, file));
      }
    },
  );

  test("without the optional package, processes are linked through sockets", () => {
    withoutAddon(() => {
      expect(succeed("npx", ["viceroy", "doctor"], app, env)).toContain("note    no RDMA addon: it has not been built");
    });
  });
});

/** Runs a function while the optional package is not installed. */
function withoutAddon(run: () => void): void {
  const scope = path.join(app, "node_modules/@viceroy");
  const away = path.join(folder, "left-out");
  if (existsSync(scope)) renameSync(scope, away);
  try {
    run();
  } finally {
    if (existsSync(away)) renameSync(away, scope);
  }
}

describe.runIf(process.platform === "linux")("viceroy setup", () => {
  test.runIf(ownAddon !== undefined)("has nothing to do where a package contains the addon", () => {
    const { code, stdout, stderr } = viceroy("setup");
    const addon = path.join(app, "node_modules", `${ownAddon}`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(
      `nothing to do for rdma (one-sided memory access between processes of a machine): ${addon}/viceroy-rdma-`,
    );
    expect(stdout).toMatch(/\.node is used; --force builds another one\n$/);
    expect(existsSync(path.join(folder, "cache/viceroy-addons"))).toBe(false);
  });

  test("names the compiler and the package that are missing", () => {
    withoutAddon(() => {
      const command = [path.join(app, "node_modules/viceroy/dist/cli/viceroy.js"), "setup"];
      const { code, stderr } = run(process.execPath, command, app, { ...env, CXX: "no-compiler" });
      expect(code).toBe(1);
      expect(stderr).toBe(
        "cannot build the addon: cannot run no-compiler, spawn no-compiler ENOENT: install g++ (package g++ of Debian), or " +
          `set CXX to another compiler\n${ownAddon ? `Without a compiler: npm install ${ownAddon}@${version}\n` : ""}`,
      );
    });
  });

  test("builds the addon with g++ and the runtime package alone", () => {
    withoutAddon(() => {
      const cache = path.join(folder, "cache/viceroy-addons");
      try {
        const { code, stdout, stderr } = viceroy("setup");
        expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
        expect(stdout).toMatch(/^built rdma \(one-sided memory access between processes of a machine\) in [\d.]+ s: /);
        expect(readdirSync(cache)).toEqual([expect.stringMatching(/^viceroy-rdma-[0-9a-f]{16}-linux-\w+\.node$/)]);
        expect(viceroy("doctor").stdout).toContain(`ok      RDMA addon ${cache}/viceroy-rdma-`);
      } finally {
        rmSync(cache, { recursive: true, force: true });
      }
    });
  });

  test.runIf(ownAddon !== undefined)("--force builds the addon although a package contains it", () => {
    const command = [path.join(app, "node_modules/viceroy/dist/cli/viceroy.js"), "setup", "--force"];
    expect(run(process.execPath, command, app, { ...env, CXX: "false" })).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("cannot build the addon: false ended with code 1"),
    });
  });
});
