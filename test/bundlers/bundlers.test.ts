/** Programs that real bundlers have made run actors in processes and threads, without their sources. */
import path from "node:path";
import { build } from "esbuild";
import { beforeAll, expect, test, vi } from "vitest";
import { root, run } from "../examples/program.js";
import { write } from "../examples/project.js";
import { deploy, makeProject, succeed } from "./project.js";
import { webpack } from "./tools.js";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let project: string;
beforeAll(async () => {
  project = await makeProject();
});

const tool = (file: string) => path.join(root, "node_modules", file);

const webpackConfig = `export default {
  mode: "production",
  target: "node20",
  entry: { registry: "./generated/registry.ts", main: { import: "./src/main.ts", dependOn: "registry" } },
  output: { module: true, chunkFormat: "module", filename: "[name].js", path: process.cwd() + "/out-webpack" },
  experiments: { outputModule: true },
  externalsType: "module",
  externals: /^viceroy(\\/|$)/,
  resolve: { extensionAlias: { ".js": [".ts", ".js"] } },
  module: {
    parser: { javascript: { importMeta: false } },
    rules: [{ test: /\\.ts$/, loader: ${JSON.stringify(path.join(root, ".ci/bundlers/node_modules/esbuild-loader"))}, options: { target: "es2022" } }],
  },
};
`;

const viteConfig = `export default {
  logLevel: "warn",
  build: {
    ssr: true, minify: true, target: "node20", outDir: "out-vite",
    rollupOptions: {
      input: { main: "src/main.ts", registry: "generated/registry.ts" },
      external: /^viceroy(\\/|$)/,
    },
  },
};
`;

const bundlers: Readonly<Record<string, () => Promise<unknown>>> = {
  esbuild: () =>
    build({
      absWorkingDir: project,
      entryPoints: { main: "src/main.ts", registry: "generated/registry.ts" },
      ...{ bundle: true, splitting: true, format: "esm", platform: "node", target: "node20", minify: true },
      external: ["viceroy"],
      outdir: "out-esbuild",
    }),
  vite: async () => {
    write(path.join(project, "vite.config.mjs"), viteConfig);
    await succeed(project, tool("vite/bin/vite.js"), "build");
  },
  rollup: async () => {
    await succeed(project, tool("typescript/bin/tsc"), "-p", ".");
    const entries = ["build/src/main.js", "build/generated/registry.js"];
    const options = ["--dir", "out-rollup", "--external", "viceroy,viceroy/codegen/v1", "--silent"];
    await succeed(project, tool("rollup/dist/bin/rollup"), ...entries, ...options);
  },
  webpack: async () => {
    write(path.join(project, "webpack.config.mjs"), webpackConfig);
    await succeed(project, webpack!, "--config", "webpack.config.mjs");
  },
};

test.for(Object.entries(bundlers))(
  "a program that %s has split into the program and the registry runs without its sources",
  async ([name, bundle], { skip }) => {
    skip(name === "webpack" && webpack === undefined, "webpack is not installed");
    await bundle();
    const app = deploy(path.join(project, `out-${name}`));
    for (const isolation of ["process", "thread"]) {
      const { stdout, stderr } = await run(process.execPath, [path.join(app, "main.js"), isolation], app);
      expect({ stdout, stderr }, `${name}, ${isolation}`).toEqual({ stdout: "4,4\n", stderr: "" });
    }
  },
);

/** Bundles with esbuild, runs the program, and returns what it prints on both outputs. */
async function outputOf(name: string, options: Parameters<typeof build>[0]): Promise<string> {
  const outdir = path.join(project, `wrong-${name}`);
  await build({ absWorkingDir: project, bundle: true, platform: "node", target: "node20", outdir, ...options });
  const main = path.join(outdir, options.format === "cjs" ? "main.cjs" : "main.js");
  const { stdout, stderr } = await run(process.execPath, [main], outdir);
  return stdout + stderr;
}

const cjs = {
  format: "cjs",
  outExtension: { ".js": ".cjs" },
  logOverride: { "empty-import-meta": "silent" },
} as const;

test("a program whose bundle contains the registry is refused before it starts a process", async () => {
  expect(await outputOf("whole", { entryPoints: ["src/main.ts"], format: "esm", external: ["viceroy"] })).toBe(
    "cannot start a process: the generated registry is a part of the program's own file, so every process would run " +
      "the whole program; make generated/registry.ts an entry of its own in the bundler, or start the program by " +
      `runProgram, got ${project}/wrong-whole/main.js\n`,
  );
});

test.each([
  ["ES", { format: "esm" }, /got file:\/\/\S+\/wrong-runtime-ES\/main\.js/],
  ["CommonJS", cjs, /got undefined/],
] as const)(
  "a bundle of %s modules that contains a part of the runtime says how to configure it",
  async (name, format, place) => {
    const output = await outputOf(`runtime-${name}`, { entryPoints: ["src/main.ts"], ...format });
    expect(output).toContain(
      "Error: cannot load the runtime of viceroy: the module that loads it was copied into a bundle; configure the " +
        'bundler to leave "viceroy" and "viceroy/*" external, or to use the condition "viceroy-inline" for a program of ' +
        "one file, got ",
    );
    expect(output).toMatch(place);
  },
);

test("a program with its own runtime that does not start by runProgram is refused", async () => {
  const options = { entryPoints: ["src/main.ts"], conditions: ["viceroy-inline"], ...cjs };
  expect(await outputOf("start", options)).toBe(
    "cannot start a process: the runtime was copied into a bundle, so processes start from the program's own file; " +
      `start the program by runProgram, or leave "viceroy" out of the bundle, got ${project}/wrong-start/main.cjs\n`,
  );
});

test("an actor that the registry of a bundle lacks is named with the registry", async () => {
  write(
    path.join(project, "src/lonely.ts"),
    `import { thisHost } from "viceroy";
import "../generated/registry.js";
import { CounterActor } from "../generated/counter.js";
class Lonely extends CounterActor { increment() {} value() { return 1; } async *watch() {} }
await using procs = thisHost().spawnProcs({ gpus: 1 });
const lonely = procs.spawn("lonely", Lonely, 3);
await lonely.value.call().catch((error) => console.log(error.message));
process.exit();
`,
  );
  const output = await outputOf("lonely", {
    entryPoints: { main: "src/lonely.ts", registry: "generated/registry.ts" },
    ...{ format: "esm", splitting: true, external: ["viceroy"] },
  });
  expect(output).toMatch(
    /cannot spawn Lonely: not registered; export it from a module that viceroy\.config\.ts names under "actors", run `npx viceroy compile` and import the generated registry; a bundled program must be bundled again, got file:\/\/\S+\/wrong-lonely\/chunk-\S*\.js\n/,
  );
});

test("a class that a bundler has copied into the program and into the registry is named", async () => {
  const text = `import { thisHost } from "viceroy";
import { MemoryCounter } from "./memory-counter.js";
await import(process.argv[1].replace("main.js", "registry.js"));
await using procs = thisHost().spawnProcs({ gpus: 1 });
const counters = procs.spawn("counters", MemoryCounter, 3);
await counters.value.call().catch((error) => console.log(error.message));
process.exit();
`;
  write(path.join(project, "src/copied.ts"), text);
  const output = await outputOf("copied", {
    entryPoints: { main: "src/copied.ts", registry: "generated/registry.ts" },
    ...{ format: "esm", external: ["viceroy"] },
  });
  expect(output).toMatch(
    /cannot spawn MemoryCounter: shop\/src\/memory-counter#MemoryCounter of file:\/\/\S+\/wrong-copied\/registry\.js is another class of this name, as when a bundler has copied its module; bundle the program and the generated registry in one run with shared chunks\n/,
  );
});
