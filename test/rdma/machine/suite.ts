/**
 * Prepares test files for the virtual machine. Work that would be slow there is done before: TypeScript is compiled to
 * one JavaScript file with the tests, and to the modules of the project that other processes load by name.
 */
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { compileProject } from "../../proc/crew.js";

const folder = fileURLToPath(new URL("../", import.meta.url));
/** The output folder. It is inside the package, so that modules in it can import the package by name. */
const built = fileURLToPath(new URL("../../../.viceroy/machine/", import.meta.url));

/**
 * @param files test files, relative to test/rdma
 * @param programs further programs, which are compiled beside the suite
 * @returns the path of a program that runs the tests; vitest.ts in this folder describes its output
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
    // The project has been compiled already.
    builder.onResolve({ filter: /\/proc\/crew\.js$/ }, ({ path: at }) => ({ path: at, namespace: "compiled" }));
    builder.onLoad({ filter: /.*/, namespace: "compiled" }, () => ({
      contents: "export async function compileProject() {}",
    }));
    // The project is loaded by name, as other processes load it, so that its classes exist only once.
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
