/** `viceroy compile --watch` as a process, which has to see every way in which files can change. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { addFiles, folderWith, read } from "../folder.js";

const binary = fileURLToPath(new URL("../../../dist/cli/viceroy.js", import.meta.url));

const schema = (field: string) => `export interface Tree {\n  ${field}: string;\n}\n`;

let folder: string;
let watcher: ChildProcess;
let said = "";

async function watchProject(files: Readonly<Record<string, string>> = {}): Promise<void> {
  folder = folderWith({
    "package.json": '{ "name": "shop", "type": "module" }\n',
    "viceroy.config.ts": 'export default { schemas: "schemas/**/*.ts" };\n',
    "schemas/tree.ts": schema("first"),
    ...files,
  });
  await start();
}

async function start(): Promise<void> {
  said = "";
  watcher = spawn(process.execPath, [binary, "compile", "--watch"], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  for (const stream of [watcher.stdout, watcher.stderr]) stream?.on("data", (chunk) => (said += String(chunk)));
  await generated("tree", "first");
}

/** Waits until a generated file has a field. */
async function generated(name: string, field: string): Promise<void> {
  const file = `generated/${name}.ts`;
  const isThere = () => existsSync(path.join(folder, file)) && read(folder, file).includes(`${field}: string`);
  await until(isThere, () => `${file} has no ${field}; the watcher said:\n${said}`);
}

async function until(isTrue: () => boolean, why: () => string): Promise<void> {
  // The limit is far longer than any machine needs: a watcher that misses a change never sees it.
  const end = Date.now() + 30_000;
  while (!isTrue()) {
    if (Date.now() > end || watcher.exitCode !== null) throw new Error(why());
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const at = (name: string) => path.join(folder, name);

beforeEach(() => {
  said = "";
});

afterEach(async () => {
  const ended = new Promise((resolve) => watcher.once("exit", resolve));
  watcher.kill("SIGTERM");
  await ended;
});

test("the watcher sees a file that is replaced by a rename, several times in a row", async () => {
  await watchProject();
  for (const field of ["second", "third", "fourth"]) {
    addFiles(folder, { "schemas/tree.ts.tmp": schema(field) });
    renameSync(at("schemas/tree.ts.tmp"), at("schemas/tree.ts"));
    await generated("tree", field);
  }
  // A file from another folder replaces the schema, and then a plain write changes it.
  addFiles(folder, { "tree.new": schema("fifth") });
  renameSync(at("tree.new"), at("schemas/tree.ts"));
  await generated("tree", "fifth");
  addFiles(folder, { "schemas/tree.ts": schema("sixth") });
  await generated("tree", "sixth");
});

test("the watcher sees a file that is moved away or deleted and then created again", async () => {
  await watchProject();
  for (const field of ["second", "third"]) {
    renameSync(at("schemas/tree.ts"), at("schemas/tree.ts~"));
    addFiles(folder, { "schemas/tree.ts": schema(field) });
    await generated("tree", field);
  }
  for (const field of ["fourth", "fifth"]) {
    rmSync(at("schemas/tree.ts"));
    addFiles(folder, { "schemas/tree.ts": schema(field) });
    await generated("tree", field);
  }
});

test("the watcher sees folders that are renamed, replaced, added and removed", async () => {
  await watchProject({ "schemas/zoo/animal.ts": schema("first").replace("Tree", "Animal") });
  await generated("zoo/animal", "first");
  const animal = (field: string) => schema(field).replace("Tree", "Animal");
  renameSync(at("schemas/zoo"), at("schemas/park"));
  await generated("park/animal", "first");
  addFiles(folder, { "schemas/park/animal.ts": animal("second") });
  await generated("park/animal", "second");
  // Another folder takes its place.
  addFiles(folder, { "other/animal.ts": animal("third") });
  renameSync(at("schemas/park"), at("old"));
  renameSync(at("other"), at("schemas/park"));
  await generated("park/animal", "third");
  addFiles(folder, { "schemas/park/animal.ts": animal("fourth") });
  await generated("park/animal", "fourth");
  // A new folder with subfolders is created.
  addFiles(folder, { "schemas/a/b/c/leaf.ts": schema("first").replace("Tree", "Leaf") });
  await generated("a/b/c/leaf", "first");
  addFiles(folder, { "schemas/a/b/c/leaf.ts": schema("second").replace("Tree", "Leaf") });
  await generated("a/b/c/leaf", "second");
  rmSync(at("schemas/a"), { recursive: true });
  await until(
    () => !existsSync(at("generated/a/b/c/leaf.ts")),
    () => `a generated file is left\n${said}`,
  );
  mkdirSync(at("schemas/a"));
  writeFileSync(at("schemas/a/leaf.ts"), schema("third").replace("Tree", "Leaf"));
  await generated("a/leaf", "third");
});

test("the watcher sees the checkout of another branch and of the first branch again", async () => {
  await watchProject({ ".gitignore": "generated/\n.viceroy/\nviceroy.lock\n" });
  const git = (...args: readonly string[]) => {
    const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
    execFileSync("git", [...identity, ...args], { cwd: folder, stdio: "ignore" });
  };
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("commit", "-q", "-m", "first");
  git("checkout", "-q", "-b", "work");
  addFiles(folder, { "schemas/tree.ts": schema("second") });
  await generated("tree", "second");
  git("add", "-A");
  git("commit", "-q", "-m", "second");
  for (let i = 0; i < 2; i++) {
    git("checkout", "-q", "main");
    await generated("tree", "first");
    git("checkout", "-q", "work");
    await generated("tree", "second");
  }
});

test("the watcher sees changes of a file in another folder to which a schema links", async () => {
  const elsewhere = folderWith({ "leaf.ts": schema("first").replace("Tree", "Leaf") });
  await watchProject();
  symlinkSync(path.join(elsewhere, "leaf.ts"), at("schemas/leaf.ts"));
  await generated("leaf", "first");
  for (const field of ["second", "third"]) {
    addFiles(elsewhere, { "leaf.ts.tmp": schema(field).replace("Tree", "Leaf") });
    renameSync(path.join(elsewhere, "leaf.ts.tmp"), path.join(elsewhere, "leaf.ts"));
    await generated("leaf", field);
  }
});

test("the watcher uses a config that is replaced by a rename and continues to run", async () => {
  await watchProject({ "more/leaf.ts": schema("first").replace("Tree", "Leaf") });
  addFiles(folder, { "viceroy.config.ts.tmp": 'export default { schemas: ["schemas/**/*.ts", "more/**/*.ts"] };\n' });
  renameSync(at("viceroy.config.ts.tmp"), at("viceroy.config.ts"));
  await generated("more/leaf", "first");
  expect(watcher.exitCode).toBe(null);
});
