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
import { application, installRuntime, packAll, root, run, succeed, type Tarballs } from "./packed.js";

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

test("the runtime takes at most 3 MB and 5 packages", () => {
  const files = readdirSync(path.join(app, "node_modules"), { recursive: true, encoding: "utf8" }).filter((name) =>
    statSync(path.join(app, "node_modules", name)).isFile(),
  );
  const bytes = files.reduce((sum, name) => sum + statSync(path.join(app, "node_modules", name)).size, 0);
  expect(bytes).toBeLessThanOrEqual(3_000_000);
  const lock = JSON.parse(readFileSync(path.join(app, "node_modules/.package-lock.json"), "utf8")) as {
    packages: object;
  };
  expect(Object.keys(lock.packages).sort()).toEqual(
    [
      "node_modules/viceroy",
      ...(tarballs.addon === undefined ? [] : ["node_modules/@viceroy/addon-linux-x64-gnu"]),
    ].sort(),
  );
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
  ["setup", ["--rdma"]],
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

  test.runIf(process.platform === "linux" && process.arch === "x64")(
    "names the addon of the optional package, through which processes are linked",
    () => {
      const addon = path.join(app, "node_modules/@viceroy/addon-linux-x64-gnu");
      const { stdout } = viceroy("doctor");
      expect(stdout).toContain(`ok      RDMA addon ${addon}/viceroy-rdma-`);
      expect(stdout).toContain("ok      processes of this machine are linked through shared memory");
      expect(existsSync(path.join(folder, "cache/viceroy-addons"))).toBe(false);
    },
  );

  test.runIf(process.platform === "linux" && process.arch === "x64")(
    "an addon that was built from other sources is not loaded, and the reason is given",
    () => {
      const addon = path.join(app, "node_modules/@viceroy/addon-linux-x64-gnu");
      const [file = ""] = readdirSync(addon).filter((name) => name.endsWith(".node"));
      renameSync(path.join(addon, file), path.join(addon, "other.node"));
      try {
        const { stdout } = viceroy("doctor");
        expect(stdout).toContain(
          `note    no RDMA addon: @viceroy/addon-linux-x64-gnu ${version} in ${addon} was built from the sources of another version\n`,
        );
        expect(stdout).toContain("run `npm install @viceroy/addon-linux-x64-gnu`, or `npx viceroy setup --rdma`");
      } finally {
        renameSync(path.join(addon, "other.node"), path.join(addon, file));
      }
    },
  );

  test("without the optional package, processes are linked through sockets", () => {
    const scope = path.join(app, "node_modules/@viceroy");
    if (existsSync(scope)) renameSync(scope, path.join(folder, "left-out"));
    try {
      expect(succeed("npx", ["viceroy", "doctor"], app, env)).toContain("note    no RDMA addon: it has not been built");
    } finally {
      if (existsSync(path.join(folder, "left-out"))) renameSync(path.join(folder, "left-out"), scope);
    }
  });
});
