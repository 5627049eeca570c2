/**
 * Runs files of tests in a virtual machine. What would take long there is done before: TypeScript becomes JavaScript here, one
 * file of the tests, and the modules of the project that other processes load by name.
 */
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { compileProject } from "../../proc/crew.js";

const folder = fileURLToPath(new URL("../", import.meta.url));
/** In the package, so that its modules find it by its name. */
const built = fileURLToPath(new URL("../../../.viceroy/machine/", import.meta.url));

/**
 * @param files of test/rdma
 * @param programs further ones, which stand beside it
 * @returns a program that runs their tests: see vitest.ts in this folder for its output
 */
export async function suite(name: string, files: readonly string[], programs: readonly string[] = []): Promise<string> {
  const project = path.join(folder, "project");
  await compileProject(project);
  const out = path.join(built, name);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const sources = ["generated", "src"].map((part) => path.join(project, part)).filter((place) => existsSync(place));
  const modules = sources.flatMap((place) => readdirSync(place).map((file) => path.join(place, file)));
  await build({
    entryPoints: modules,
    outbase: project,
    outdir: path.join(out, "project"),
    format: "esm",
    target: "node20",
  });
  await build({ ...common, entryPoints: programs.map((file) => path.join(folder, file)), outdir: out });
  const imports = files.map((file) => `import ${JSON.stringify(path.join(folder, file))};`).join("\n");
  const program = path.join(out, "suite.js");
  await build({
    ...common,
    stdin: { contents: `${imports}\nimport { runAll } from "vitest";\nawait runAll();`, resolveDir: folder },
    outfile: program,
  });
  return program;
}

const replacements: Plugin = {
  name: "replacements",
  setup(builder) {
    builder.onResolve({ filter: /^vitest$/ }, () => ({ path: path.join(folder, "machine/vitest.ts") }));
    // It has been compiled.
    builder.onResolve({ filter: /\/proc\/crew\.js$/ }, ({ path: at }) => ({ path: at, namespace: "compiled" }));
    builder.onLoad({ filter: /.*/, namespace: "compiled" }, () => ({
      contents: "export async function compileProject() {}",
    }));
    // Loaded by name, as other processes load it: classes must not exist twice.
    builder.onResolve({ filter: /^\.\/project\// }, ({ path: at }) => ({ path: at, external: true }));
  },
};

const common: BuildOptions = {
  bundle: true,
  ignoreAnnotations: true,
  platform: "node",
  format: "esm",
  target: "node20",
  external: ["viceroy", "viceroy/*"],
  define: { VICEROY_VERSION: JSON.stringify("test") },
  banner: {
    js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
  },
  plugins: [replacements],
};
