import { readFileSync, rmSync, statSync, utimesSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { compile } from "../../../compiler/cli/commands/compile.js";
import { rename } from "../../../compiler/cli/commands/rename.js";
import { Project } from "../../../compiler/cli/project.js";
import { addFiles, folderWith, listFiles, read, TestIo } from "../folder.js";

const schema = `import type { Actor, Int32 } from "viceroy/schema";

export interface Entry {
  key: string;
  ttl: Int32;
}

export interface Store extends Actor {
  get(key: string): Entry;
}
`;

function project(more: Readonly<Record<string, string>> = {}): string {
  return folderWith({
    "package.json": '{ "name": "shop", "type": "module" }',
    "viceroy.config.ts":
      'import { defineConfig } from "viceroy/compiler";\nexport default defineConfig({ schemas: "schemas/**/*.ts", actors: "src/**/*.ts" });\n',
    "schemas/store.ts": schema,
    "schemas/other.ts": "export interface Other {\n  name: string;\n}\n",
    "src/store.ts":
      'import { StoreActor } from "../generated/store.js";\nexport class MemoryStore extends StoreActor {}\n',
    ...more,
  });
}

async function run(folder: string, options: { check?: boolean; json?: boolean; draft?: boolean } = {}) {
  const io = new TestIo();
  const code = await compile(new Project(folder), { check: false, json: false, draft: false, ...options }, io);
  return { code, out: io.lines, err: io.errors };
}

test("compile generates a project, after which the check passes and a second run does nothing", async () => {
  const folder = project();
  expect((await run(folder, { check: true })).code).toBe(1);
  expect(listFiles(path.join(folder, "generated"))).toEqual([]);
  expect((await run(folder)).code).toBe(0);
  expect(listFiles(path.join(folder, "generated"))).toEqual(["other.ts", "registry.ts", "store.ts"]);
  expect(read(folder, "generated/registry.ts")).toContain("shop/src/store#MemoryStore");
  rmSync(path.join(folder, ".viceroy"), { recursive: true });
  expect(await run(folder, { check: true })).toMatchObject({ code: 0 });
  expect((await run(folder)).code).toBe(0);
  expect((await run(folder)).out).toEqual(["Nothing to do: generated code is up to date."]);
});

test.each(["ts", "mts", "js", "mjs"])("a config file may have the name viceroy.config.%s", async (extension) => {
  const folder = folderWith({
    "package.json": '{ "name": "shop" }',
    [`viceroy.config.${extension}`]:
      'import { defineConfig } from "viceroy/compiler";\nexport default defineConfig({ schemas: "schemas/*.ts" });\n',
    "schemas/other.ts": "export interface Other {\n  name: string;\n}\n",
  });
  expect(await run(folder)).toMatchObject({ code: 0, err: [] });
  expect(listFiles(path.join(folder, "generated"))).toEqual(["other.ts", "registry.ts"]);
});

test("compile writes a missing lock file and updates an existing one", async () => {
  const folder = project();
  expect((await run(folder)).out).toContain("wrote   viceroy.lock");
  addFiles(folder, { "schemas/other.ts": "export interface Other {\n  name: string;\n  size: number;\n}\n" });
  expect((await run(folder)).out).toContain("updated viceroy.lock");
});

test("a config with a syntax error is refused with its line and column", async () => {
  const text = 'export default {\n  schemas: "schemas/**/*.ts",\n  out: "code"\n;\n';
  const folder = project({ "viceroy.config.ts": text });
  await expect(run(folder)).rejects.toThrow("cannot load viceroy.config.ts: 4:1: ',' expected.");
  expect(listFiles(folder).filter((name) => name.startsWith("code"))).toEqual([]);
});

test("an edit of a schema rewrites only the generated files that depend on it", async () => {
  const folder = project();
  await run(folder);
  const old = new Date(1_000_000_000_000);
  for (const name of listFiles(path.join(folder, "generated"))) {
    utimesSync(path.join(folder, "generated", name), old, old);
  }
  addFiles(folder, { "schemas/other.ts": "export interface Other {\n  name: string;\n  age: number;\n}\n" });
  expect((await run(folder)).out.slice(0, 2)).toEqual(["updated generated/other.ts", "updated viceroy.lock"]);
  expect(statSync(path.join(folder, "generated/store.ts")).mtimeMs).toBe(old.getTime());
  addFiles(folder, { "src/notes.ts": "export const unrelated = 1;\n" });
  const before = read(folder, "generated/registry.ts");
  expect((await run(folder)).code).toBe(0);
  expect(read(folder, "generated/registry.ts")).toBe(before);
  expect(statSync(path.join(folder, "generated/registry.ts")).mtimeMs).toBe(old.getTime());
});

test("compile exits with 2 on schema errors and writes nothing, and with 3 on an invalid config", async () => {
  const folder = project({ "schemas/bad.ts": "export interface Bad {\n  x: any;\n  y: Missing;\n}\n" });
  const { code, out } = await run(folder, { json: true });
  expect(code).toBe(2);
  expect(out.map((line) => JSON.parse(line).code)).toEqual(["VC1101", "VC1002"]);
  expect(listFiles(path.join(folder, "generated"))).toEqual([]);
  addFiles(folder, { "viceroy.config.ts": "export default { schema: 1 };\n" });
  expect((await run(folder, { json: true })).code).toBe(3);
  await expect(run(folder)).rejects.toThrow("cannot use viceroy.config.ts");
});

test("a project with tasks is generated, checked and recompiled like one with actors", async () => {
  const tasks = `import type { Task } from "viceroy/schema";
import type { Entry } from "./store.js";

export interface Sort extends Task<[entries: Entry[], descending?: boolean], Entry[]> {}
export interface Sweep extends Task {}
`;
  const folder = project({ "schemas/tasks.ts": tasks });
  const first = await run(folder);
  expect(first.code).toBe(0);
  expect(first.out.at(-1)).toMatch(/^1 actor, 2 tasks and 2 types in 3 files, \d+ ms$/);
  expect(read(folder, "generated/tasks.ts")).toContain('key: "shop/schemas/tasks#Sort"');
  expect(read(folder, "viceroy.lock")).toContain(
    "task Sort in schemas/tasks next=1\n  0 run next=3 (1 entries: Entry[], 2 descending: boolean?) -> Entry[]\n",
  );
  expect((await run(folder, { check: true })).code).toBe(0);

  // The arguments contain the type of another file, so that its change is drift in the file of the tasks, too.
  addFiles(folder, { "schemas/store.ts": schema.replace("ttl: Int32;", "ttl: Int32;\n  note?: string;") });
  const drift = await run(folder, { check: true, json: true });
  expect(drift.code).toBe(1);
  expect(drift.out.join("\n")).toContain("generated/tasks.ts");
  expect((await run(folder)).out).toContain("updated generated/tasks.ts");

  // A change of a task itself breaks no process that runs: processes of different builds refuse each other's tasks.
  addFiles(folder, { "schemas/tasks.ts": tasks.replace("entries: Entry[]", "entries: string") });
  expect((await run(folder)).code).toBe(0);
  expect((await run(folder, { check: true })).code).toBe(0);
  expect(read(folder, "viceroy.lock")).toContain(
    "  0 run next=3 (1 entries: string, 2 descending: boolean?) -> Entry[]\n",
  );

  const io = new TestIo();
  expect(await rename(new Project(folder), "Sort.entries", "rows", io)).toBe(3);
  expect(io.errors).toContain(
    "cannot rename Sort.entries: the arguments of task Sort are passed by position; change the name in the schema",
  );
});

test("a possible rename is an error with --check, and compile treats it as a new field", async () => {
  const folder = project();
  await run(folder);
  addFiles(folder, { "schemas/store.ts": schema.replace("ttl", "expiry") });
  const checked = await run(folder, { check: true, json: true });
  expect(checked.code).toBe(1);
  expect(checked.out.map((line) => JSON.parse(line)).find(({ code }) => code === "VC2007")).toMatchObject({
    severity: "error",
    line: 5,
    column: 3,
  });
  expect((await run(folder)).code).toBe(0);
  expect(read(folder, "viceroy.lock")).toContain("  2 -ttl int32\n  3 expiry int32\n");
});

test("the rename command changes schema and lock file together and keeps the id", async () => {
  const folder = project();
  await run(folder);
  const io = new TestIo();
  expect(await rename(new Project(folder), "Entry.ttl", "expiry", io)).toBe(0);
  expect(read(folder, "schemas/store.ts")).toBe(schema.replace("ttl", "expiry"));
  expect(read(folder, "viceroy.lock")).toContain("  2 expiry int32 was=ttl\n");
  expect((await run(folder, { check: true })).code).toBe(0);
  expect(await rename(new Project(folder), "Entry.none", "x", io)).toBe(3);
  expect(io.errors).toContain("cannot rename Entry.none: Entry has no member none; it has key, expiry");
  expect(await rename(new Project(folder), "Store.get", "stop", io)).toBe(3);
  expect(io.errors).toContain(
    "cannot rename Store.get: an endpoint cannot have the name stop: every mesh has a member of this name",
  );
  expect(await rename(new Project(folder), "Entry.key", "stop", io)).toBe(0);
});

test("a draft compile assigns no ids to half-typed names, even in a new project", async () => {
  const folder = project();
  await run(folder, { draft: true });
  const typed = ["n", "na", "name"].map((name) => schema.replace("ttl: Int32;", `ttl: Int32;\n  ${name}: string;`));
  for (const text of typed) {
    addFiles(folder, { "schemas/store.ts": text });
    expect((await run(folder, { draft: true })).code).toBe(0);
  }
  expect(read(folder, "viceroy.lock")).not.toContain("Entry");
  expect((await run(folder)).code).toBe(0);
  expect(read(folder, "viceroy.lock")).toContain("  1 key string\n  2 ttl int32\n  3 name string\n");
});

test("a missing lock beside generated code and a foreign file at an output path are errors", async () => {
  const folder = project();
  await run(folder);
  rmSync(path.join(folder, "viceroy.lock"));
  expect(await run(folder, { json: true })).toMatchObject({ code: 2, out: [expect.stringContaining("VC2006")] });
  const other = project({ "generated/store.ts": "export const mine = 1;\n" });
  expect(await run(other, { json: true })).toMatchObject({ code: 3, out: [expect.stringContaining("VC3005")] });
  expect(readFileSync(path.join(other, "generated/store.ts"), "utf8")).toBe("export const mine = 1;\n");
});
