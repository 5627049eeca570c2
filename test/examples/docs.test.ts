/**
 * Checks the pages of the documentation: their code compiles, their quotes and links are right, and the commands and files
 * that they name exist. A fence that starts with `// examples/…` quotes that file. A fence that starts with `// src/x.ts`
 * or a similar path is a file of the page's own project. Any other TypeScript is a fragment, which is compiled with the
 * prelude of the page (test/fixtures/docs). The prelude declares the names that the prose has introduced.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { parse as parseYaml } from "yaml";
import { anchorsOf, fileOf, fragmentAsModule, linksOf, type Page, pages, pathsOf, readPage } from "./markdown.js";
import { root, run } from "./program.js";

const all = pages();
// How-to guides are followed, and their code is checked, in how-to.test.ts.
const typescript = all
  .filter(({ file }) => !file.startsWith("docs/how-to/"))
  .flatMap((page) =>
    page.fences.filter(({ language }) => language === "ts").map((fence) => ({ page, fence, file: fileOf(fence) })),
  );

test.each(all.map((page) => page.file))("every link of %s has a target", (file) => {
  const page = readPage(file);
  const broken = linksOf(page).filter((target) => !/^https?:/.test(target) && !hasTarget(page, target));
  expect(broken).toEqual([]);
});

test("every page can be reached from the index", () => {
  const reached = new Set<string>();
  const visit = (file: string): void => {
    if (reached.has(file) || !file.endsWith(".md") || !existsSync(path.join(root, file))) return;
    reached.add(file);
    // The index of a folder reaches all pages of the folder, because the sidebar lists them.
    const [, folder] = /^(docs\/[\w-]+\/)index\.md$/.exec(file) ?? [];
    if (folder !== undefined) for (const page of all) if (page.file.startsWith(folder)) visit(page.file);
    for (const target of linksOf(readPage(file))) {
      if (!/^https?:/.test(target)) visit(path.posix.join(path.posix.dirname(file), target.replace(/#.*/, "")));
    }
  };
  visit("docs/index.md");
  expect(all.map((page) => page.file).filter((file) => file.startsWith("docs/") && !reached.has(file))).toEqual([]);
});

describe("paths of the repository in pages", () => {
  const folders = new Set(["bench", "compiler", "docs", "examples", "native", "runtime", "shared", "test", ".ci"]);
  // In other pages, these are folders of a user's project.
  const aboutSources = /^(?:CONTRIBUTING\.md|docs\/architecture\.md|docs\/decisions\/.*)$/;
  const generated = new Set(["bench/results/", "docs/api"]);
  test.each(all.map((page) => page.file))("%s names only files and folders that exist", (file) => {
    const named = pathsOf(readPage(file)).filter((name) => {
      const [top = ""] = name.split("/");
      return folders.has(top) || (aboutSources.test(file) && (top === "schemas" || top === "generated"));
    });
    expect(named.filter((name) => !generated.has(name) && !existsSync(path.join(root, name)))).toEqual([]);
  });
});

test("quotes of the examples equal the source files", () => {
  for (const { page, fence, file } of typescript) {
    if (file?.startsWith("examples/") !== true) continue;
    const quote = fence.code.slice(fence.code.indexOf("\n") + 1);
    const source = readFileSync(path.join(root, file), "utf8");
    expect(source, `${page.file}:${fence.line} quotes ${file}`).toContain(quote);
  }
});

test("TypeScript in the documentation compiles", () => {
  const folder = path.join(root, ".viceroy/docs/code");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // A fragment uses only a part of its prelude, and schemas may contain enums.
  const lenient = {
    noUnusedLocals: false,
    noUnusedParameters: false,
    erasableSyntaxOnly: false,
    noImplicitOverride: false,
  };
  const options = { ...lenient, verbatimModuleSyntax: false };
  writeFileSync(
    path.join(folder, "tsconfig.json"),
    JSON.stringify({ extends: "../../../tsconfig.json", compilerOptions: options, include: ["."], exclude: [] }),
  );
  for (const { page, fence, file } of typescript) {
    if (file?.startsWith("examples/") === true) continue;
    const name = `${page.file.replace(/\.md$/, "").replaceAll("/", "-")}-${fence.line}.ts`;
    if (file === undefined) writeFileSync(path.join(folder, name), fragmentAsModule(fence, prelude(page.file)));
    else if (file.startsWith("schemas/")) writeFileSync(path.join(folder, name), fence.code);
  }
  expect(typeCheck(folder)).toBe("");
  rmSync(folder, { recursive: true });
});

test("schemas in the documentation compile without a diagnostic", async () => {
  const folder = path.join(root, ".viceroy/docs/schemas");
  rmSync(folder, { recursive: true, force: true });
  for (const { page, fence, file } of typescript) {
    if (file?.startsWith("schemas/") !== true) continue;
    const target = path.join(folder, "schemas", path.basename(page.file, ".md"), path.basename(file));
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, fence.code);
  }
  writeFileSync(path.join(folder, "viceroy.config.ts"), 'export default { schemas: "schemas/**/*.ts" };\n');
  const outcome = await run(process.execPath, [path.join(root, "dist/cli/viceroy.js"), "compile"], folder);
  expect(outcome).toMatchObject({ code: 0, stderr: "" });
  rmSync(folder, { recursive: true });
});

describe("commands that pages name", () => {
  const commands = new Map<string, Set<string>>();
  for (const page of all) {
    for (const [, command, rest] of page.text.matchAll(/(?:npx|`) ?viceroy ([a-z]+(?: [a-z]+)?)([^`\n]*)/g)) {
      // The options of these commands belong to their own commands.
      const name = /^(job|controller) /.test(command!) ? command! : command!.split(" ", 1)[0]!;
      const options = commands.get(name) ?? new Set();
      for (const [option] of rest!.matchAll(/--[a-z-]+/g)) options.add(option);
      commands.set(name, options);
    }
  }
  test("the pages name at least one command", () => expect(commands.size).toBeGreaterThan(0));
  test.each([...commands])("viceroy %s exists and has the options that pages name", async (command, options) => {
    const cli = path.join(root, "dist/cli/viceroy.js");
    const { code, stdout } = await run(process.execPath, [cli, ...command.split(" "), "--help"], root);
    expect(code).toBe(0);
    expect(stdout).toContain(`viceroy ${command}`);
    for (const option of options) expect(stdout).toContain(option);
  });
});

test("YAML in the documentation is valid, and a workflow has jobs with steps", () => {
  const yaml = all.flatMap((page) => page.fences.filter(({ language }) => language === "yaml"));
  expect(yaml.length).toBeGreaterThan(0);
  for (const { code } of yaml) {
    const document = parseYaml(code, { strict: true, uniqueKeys: true });
    if (!code.startsWith("# .github/workflows/")) continue;
    expect(Object.keys(document)).toEqual(expect.arrayContaining(["name", "on", "jobs"]));
    for (const job of Object.values<{ steps: readonly object[] }>(document.jobs)) {
      for (const step of job.steps) expect("run" in step || "uses" in step, JSON.stringify(step)).toBe(true);
    }
  }
});

test("every npm script that a page names exists", () => {
  const { scripts } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as { scripts: object };
  for (const page of all) {
    for (const [, name] of page.text.matchAll(/npm run ([\w:-]+)/g)) {
      expect(Object.keys(scripts), `${page.file} names npm run ${name}`).toContain(name);
    }
  }
});

function hasTarget(page: Page, target: string): boolean {
  const [file = "", anchor] = target.split("#");
  const to = file === "" ? page.file : path.posix.join(path.posix.dirname(page.file), file);
  if (!existsSync(path.join(root, to))) return false;
  return anchor === undefined || anchorsOf(readPage(to)).has(anchor);
}

function prelude(file: string): string {
  const own = path.join(root, "test/fixtures/docs", file.replaceAll("/", "-").replace(/\.md$/, ".ts"));
  return existsSync(own) ? readFileSync(own, "utf8") : "";
}

/** @returns the errors that the compiler prints */
function typeCheck(folder: string): string {
  try {
    execFileSync(process.execPath, [path.join(root, "node_modules/typescript/bin/tsc"), "-p", folder, "--noEmit"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
    return "";
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return stdout || stderr;
  }
}
