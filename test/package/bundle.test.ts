/** Checks that all entry points of a thread share one instance of the built runtime, with or without a code cache. */
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readCache } from "../../runtime/bundle/code-cache.js";

const dist = path.resolve(import.meta.dirname, "../../dist");
let home: string;

beforeAll(() => {
  home = fs.mkdtempSync(path.join(tmpdir(), "viceroy-bundle-test-"));
});
afterAll(() => fs.rmSync(home, { recursive: true, force: true }));

/** Runs a script as an ES module beside the package; answers what it printed. */
function script(text: string): string {
  const file = path.join(dist, "..", `.viceroy-bundle-test-${process.pid}.mjs`);
  fs.writeFileSync(file, text);
  try {
    const env = { ...process.env, XDG_CACHE_HOME: home, NODE_V8_COVERAGE: undefined, NODE_OPTIONS: undefined };
    const { stdout, stderr, status } = spawnSync(process.execPath, [file], { encoding: "utf8", env });
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    return stdout.trim();
  } finally {
    fs.rmSync(file);
  }
}

function caches(): string[] {
  const folder = path.join(home, "viceroy");
  return fs.existsSync(folder) ? fs.readdirSync(folder).map((name) => path.join(folder, name)) : [];
}

test.each([
  ["index.js", "runtime/index.js"],
  ["codegen-v1.js", "runtime/codegen/v1/index.js"],
  ["testing.js", "runtime/testing/index.js"],
  ["rdma.js", "runtime/rdma/index.js"],
  ["tensor.js", "runtime/tensor/index.js"],
])("%s exports the same names as %s", async (facade, source) => {
  const built: object = await import(path.join(dist, facade));
  const sources: object = await import(path.join(dist, "..", source));
  expect(Object.keys(built).sort()).toEqual(Object.keys(sources).sort());
});

const sameActor = `
  import { Actor } from "viceroy";
  import { Actor as generated } from "viceroy/codegen/v1";
  import { createRequire } from "node:module";
  const { load } = createRequire(import.meta.url)(${JSON.stringify(path.join(dist, "load.cjs"))});
  console.log(Actor === generated, Actor === load("child").main.Actor, Actor.name);
`;

test("all entry points share one instance of the runtime", () => {
  expect(script(sameActor)).toBe("true true Actor");
});

test.each([
  ["a process starts", ""],
  ["a program imports the rest of the runtime", ".main"],
])("modules of Node.js that most processes never use are not loaded when %s", (_, rest) => {
  const rare = ["child_process", "crypto", "tls", "v8", "vm", "worker_threads"];
  const before = "const before = new Set(process.moduleLoadList);";
  const load = 'createRequire(import.meta.url)("./dist/load.cjs").load("child")';
  const after = `console.log(${JSON.stringify(rare)}.filter((name) => process.moduleLoadList.includes("NativeModule " + name) && !before.has("NativeModule " + name)).join());`;
  // The code cache itself loads vm.
  expect(script(`import { createRequire } from "node:module"; ${before} ${load}${rest}; ${after}`)).toMatch(/^(vm)?$/);
});

test("the built simulator contains no class of the runtime", () => {
  const text = fs.readFileSync(path.join(dist, "testing.js"), "utf8");
  expect(text).toMatch(/\bSimulation = class\b/);
  expect(text).not.toMatch(/\b(?:ActorCell|Proc|Link|ProcessRuntime|DropWatch) = class\b/);
});

test("all entry points of a worker thread share one instance of the runtime", () => {
  expect(
    script(`
      import { isMainThread, Worker } from "node:worker_threads";
      if (isMainThread) new Worker(new URL(import.meta.url));
      ${sameActor}
    `),
  ).toBe("true true Actor\ntrue true Actor");
});

test("the code caches are written once and not written again while they are intact", () => {
  for (const file of caches()) fs.rmSync(file);
  script(sameActor);
  const made = caches();
  expect(made.map((file) => path.basename(file).split("-main-")[0]).sort()).toEqual([
    "runtime-rest.cjs",
    "runtime.cjs",
  ]);
  const stats = () =>
    made.map((file) => {
      expect(readCache(file)).toBeDefined();
      const { mtimeMs, ino } = fs.statSync(file);
      return { mtimeMs, ino };
    });
  const before = stats();
  script(sameActor);
  expect(caches()).toEqual(made);
  expect(stats()).toEqual(before);
});

test.each([
  ["empty", () => Buffer.alloc(0)],
  ["cut off", (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1)],
  ["overwritten", (bytes: Buffer) => Buffer.alloc(bytes.length, 0x5a)],
])("a cache file that is %s is replaced without an error message", (_, damage) => {
  for (const old of caches()) fs.rmSync(old);
  script(sameActor);
  const [file] = caches();
  fs.writeFileSync(file!, damage(fs.readFileSync(file!)));
  expect(readCache(file!)).toBeUndefined();
  expect(script(sameActor)).toBe("true true Actor");
  expect(readCache(file!)).toBeDefined();
});

/** The uses of the caches that are there. */
const uses = () =>
  caches()
    .map((file) => path.basename(file).split("-")[1])
    .sort();

/** Prints for each script that is compiled whether a cache was given for it, and whether V8 has rejected the cache. */
const watched = `
  import { createRequire } from "node:module";
  import vm from "node:vm";
  const { Script } = vm;
  vm.Script = class extends Script {
    constructor(source, options) {
      super(source, options);
      console.log(options.cachedData !== undefined, this.cachedDataRejected);
    }
  };
  const { load, shareCompiledCode } = createRequire(import.meta.url)(${JSON.stringify(path.join(dist, "load.cjs"))});
`;

test("a process without a cache shares what it has compiled at once, and children begin with it and store their own", () => {
  for (const file of caches()) fs.rmSync(file);
  const folder = JSON.stringify(path.join(home, "viceroy"));
  const sharing = `import fs from "node:fs"; ${watched} load(); shareCompiledCode(); console.log(fs.readdirSync(${folder}).length);`;
  expect(script(sharing)).toBe("false undefined\n1");
  expect(uses()).toEqual(["early", "main"]);
  const early = caches().find((file) => path.basename(file).includes("-early-"))!;
  const { mtimeMs } = fs.statSync(early);
  fs.rmSync(caches().find((file) => path.basename(file).includes("-main-"))!);
  expect(script(`${watched} load("child");`)).toBe("true false");
  expect(uses()).toEqual(["child", "early"]);
  // A process that has found a cache has nothing to share.
  expect(script(`${watched} load("child"); shareCompiledCode();`)).toBe("true false");
  expect(fs.statSync(early).mtimeMs).toBe(mtimeMs);
});

test("a process that has waited for its order stores its cache a second after it goes on", () => {
  for (const file of caches()) fs.rmSync(file);
  const folder = JSON.stringify(path.join(home, "viceroy"));
  const waiting = `
    import fs from "node:fs";
    const count = () => (fs.existsSync(${folder}) ? fs.readdirSync(${folder}).length : 0);
    load("child");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500);
    setTimeout(() => console.log("at once:", count()), 1);
    const timer = setInterval(() => {
      if (count() === 0) return;
      console.log("later:", count());
      clearInterval(timer);
    }, 10);
  `;
  expect(script(`${watched} ${waiting}`)).toBe("false undefined\nat once: 0\nlater: 1");
});

test("generated code does not load the rest of the runtime, and programs do", () => {
  const imports = 'await import("viceroy/codegen/v1"); console.log("then"); await import("viceroy");';
  expect(script(`${watched} load("child"); ${imports}`)).toMatch(/^\w+ \w+\nthen\n\w+ \w+$/);
});

test("the first handle that is encoded loads the rest of the runtime, which knows handles", () => {
  const encode = `
    const { codec } = await import("viceroy/codegen/v1");
    try {
      codec.port(() => codec.uint32).encode(1);
    } catch (error) {
      console.log(error.message);
    }
  `;
  const said = script(`${watched} load("child"); console.log("then"); ${encode}`);
  expect(said).toMatch(/^\w+ \w+\nthen\n\w+ \w+\ncannot encode Port<uint32>: expected a port, got 1$/);
});

test.each([
  ["that collects garbage", "load().tasksKernel.garbageCollector()();"],
  ["that does not", "load().tasksKernel;"],
])("later processes can use the code that a process has stored %s", (_, step) => {
  for (const file of caches()) fs.rmSync(file);
  expect(script(`${watched} ${step}`)).toBe("false undefined\nfalse undefined");
  expect(script(`${watched} ${step}`)).toBe("true false\ntrue false");
});
