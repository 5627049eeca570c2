/**
 * `viceroy init`: writes a small project that runs. It never overwrites a file. If existing files are incompatible, it
 * writes nothing and prints how to change them.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { glob } from "../../output/glob.js";
import { exitCode, type Io } from "../io.js";
import { ignoredPaths, templates } from "../templates.js";

/** @returns 3 if existing files are incompatible; then nothing has been written */
export async function init(folder: string, io: Io): Promise<number> {
  const manifest = readManifest(folder);
  const problems = [...manifest.problems, ...(await settingProblems(folder))];
  if (problems.length > 0) {
    for (const problem of problems) io.err(problem);
    return exitCode.usage;
  }
  mkdirSync(folder, { recursive: true });
  for (const { path: name, text } of templates) {
    const file = path.join(folder, name);
    if (existsSync(file)) {
      io.out(`kept     ${name}`);
      continue;
    }
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    io.out(`wrote    ${name}`);
  }
  extendGitignore(folder, io);
  writeManifest(folder, manifest, io);
  io.out("");
  io.out("Next:");
  if (path.resolve(folder) !== process.cwd()) io.out(`  cd ${path.relative("", folder)}`);
  io.out("  npx viceroy compile          compile schemas/ to generated/");
  io.out(
    "  npx viceroy run src/main.ts  run the sample (needs tsx: npm install --save-dev tsx typescript @types/node)",
  );
  return exitCode.ok;
}

function extendGitignore(folder: string, io: Io): void {
  const file = path.join(folder, ".gitignore");
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const missing = ignoredPaths.filter((entry) => !text.split(/\r?\n/).includes(entry));
  if (missing.length === 0) return;
  const separator = text === "" || text.endsWith("\n") ? "" : "\n";
  writeFileSync(file, `${text}${separator}${missing.join("\n")}\n`);
  io.out(`${text === "" ? "wrote   " : "extended"} .gitignore`);
}

interface PackageManifest {
  /** The content of package.json, or undefined if there is none. */
  readonly content: Readonly<Record<string, unknown>> | undefined;
  readonly problems: readonly string[];
}

/** Reads package.json. Generated code consists of ES modules, so the command does not change a CommonJS package. */
function readManifest(folder: string): PackageManifest {
  const file = path.join(folder, "package.json");
  if (!existsSync(file)) return { content: undefined, problems: [] };
  let content: Record<string, unknown>;
  try {
    content = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
  } catch (error) {
    return { content: undefined, problems: [`cannot read package.json: ${(error as Error).message}`] };
  }
  const { type } = content;
  if (type === "module") return { content, problems: [] };
  const [own] = type === undefined ? existingCode(folder) : [];
  if (type === undefined && own === undefined) return { content, problems: [] };
  const why =
    own === undefined
      ? `"type" is ${JSON.stringify(type)}`
      : `there is no "type", so that ${own} may be a CommonJS module`;
  const problem = [
    `cannot use package.json: Viceroy generates ES modules, and ${why}. Either`,
    `  npx viceroy init ${path.join(path.relative("", folder), "mesh")}   creates a folder of ES modules in this package; CommonJS code loads them with import("./mesh/…")`,
    '  or write "type": "module" into package.json, if all of this package is to be ES modules, and run this again',
  ];
  return { content, problems: [problem.join("\n")] };
}

/** Returns the existing source files whose meaning would change with the type of the package. */
function existingCode(folder: string): readonly string[] {
  const written = new Set(templates.map(({ path: name }) => name));
  return glob(folder, ["*.{js,ts}", "{src,lib,bin,test}/**/*.{js,ts,jsx,tsx}"], []).filter(
    (name) => !written.has(name),
  );
}

/** Checks an existing tsconfig.json, which the command does not change. */
async function settingProblems(folder: string): Promise<readonly string[]> {
  const file = path.resolve(folder, "tsconfig.json");
  if (!existsSync(file)) return [];
  // Loaded only here, because this import loads the compiler.
  const { tsconfigProblems } = await import("../../source/index.js");
  const problems = tsconfigProblems(file);
  if (problems.length === 0) return [];
  const advice = [
    "Change it and run this command again, or",
    `  npx viceroy init ${path.join(path.relative("", folder), "mesh")}   creates a folder with a separate tsconfig.json`,
  ];
  return [["cannot use tsconfig.json:", ...problems.map((problem) => `  ${problem}`), ...advice].join("\n")];
}

function writeManifest(folder: string, { content }: PackageManifest, io: Io): void {
  const file = path.join(folder, "package.json");
  if (content === undefined) {
    const manifest = { name: packageNameFor(folder), version: "0.0.0", private: true, type: "module" };
    writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
    io.out("wrote    package.json");
    return;
  }
  const { name, type } = content;
  // npm writes a package.json without a name when it installs into an empty folder. The name is part of every id.
  const added = {
    ...(name === undefined && { name: packageNameFor(folder) }),
    ...(type === undefined && { type: "module" }),
  };
  if (Object.keys(added).length === 0) return;
  const { name: _, version, ...rest } = content;
  const head = { name: name ?? added.name, ...(version === undefined ? {} : { version }) };
  writeFileSync(file, `${JSON.stringify({ ...head, ...rest, type: "module" }, null, 2)}\n`);
  const what = Object.entries(added).map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  io.out(`extended package.json with ${what.join(" and ")}`);
}

/** Derives the package name from the name of the folder. npm requires a letter or digit as the first character. */
function packageNameFor(folder: string): string {
  const name = path
    .basename(path.resolve(folder))
    .toLowerCase()
    .replace(/[^a-z0-9._-]/g, "-")
    .replace(/^[._-]+/, "");
  return name === "" ? "app" : name;
}
