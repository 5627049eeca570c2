/** Large schemas, whose modules several threads emit: the same bytes as one thread writes, also when others fail. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { folderWith, listFiles, read } from "../folder.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
mkdirSync(path.join(root, ".viceroy"), { recursive: true });
/** Below the repository: what the compiler depends on is looked for upwards of it. */
const copies = mkdtempSync(path.join(root, ".viceroy/test-threads-"));
afterAll(() => rmSync(copies, { recursive: true, force: true }));

const modules = 12;

/** Some 120,000 characters, with all that one module has of another: types, generic ones, enums that are written in place. */
function schemaOf(module: number): string {
  const next = (module + 1) % modules;
  const types = Array.from(
    { length: 32 },
    (_, i) => `/** What is known of ${i}. */
export interface Entry${module}x${i} {
  id: Int32;
  name: string;
  state: "new" | "open${i}" | "closed";
  scores: number[];
  tags: Map<string, Int32>;
  pair?: Pair${module}<string, Int32>;
  other?: Entry${next}x${i};
  inner: { at: Date; level: "low" | "high${module}" };
}
`,
  );
  return `import type { Actor, Int32 } from "viceroy/schema";
import type { ${Array.from({ length: 32 }, (_, i) => `Entry${next}x${i}`).join(", ")} } from "./part-${next}.js";

export interface Pair${module}<A, B> {
  first: A;
  second: B;
}

${types.join("\n")}
export interface Store${module} extends Actor<[size: Int32]> {
  get(key: string): Entry${module}x0;
  put(entry: Entry${next}x1): void;
}
`;
}

const schemas = Array.from({ length: modules }, (_, i) => [`schemas/part-${i}.ts`, schemaOf(i)]);
const project = () =>
  folderWith({
    "package.json": '{ "name": "shop", "type": "module" }',
    "viceroy.config.ts":
      'import { defineConfig } from "viceroy/compiler";\nexport default defineConfig({ schemas: "schemas/**/*.ts", actors: "src/**/*.ts" });\n',
    ...Object.fromEntries(schemas),
  });

/** All that a built compiler writes whose thread is another: undefined for its own, null for none. */
function writtenWith(thread?: string | null): Readonly<Record<string, string>> {
  let dist = path.join(root, "dist");
  if (thread !== undefined) {
    const copy = mkdtempSync(path.join(copies, "dist-"));
    for (const part of ["cli", "compiler"]) cpSync(path.join(dist, part), path.join(copy, part), { recursive: true });
    const script = path.join(copy, "compiler/emit-thread.js");
    if (thread === null) rmSync(script);
    else writeFileSync(script, thread);
    dist = copy;
  }
  const folder = project();
  execFileSync(process.execPath, [path.join(dist, "cli/viceroy.js"), "compile"], { cwd: folder, stdio: "pipe" });
  const names = ["viceroy.lock", ...listFiles(path.join(folder, "generated")).map((name) => `generated/${name}`)];
  return Object.fromEntries(names.map((name) => [name, read(folder, name)]));
}

let expected: Readonly<Record<string, string>>;
beforeAll(() => {
  expected = writtenWith(null);
});

test("threads write what one thread would", () => {
  expect(writtenWith()).toEqual(expected);
});

test.skipIf(availableParallelism() === 1)("what a thread has emitted is what is written", () => {
  const written = writtenWith(
    `import { parentPort } from "node:worker_threads";
     parentPort.once("message", ({ next }) => {
       Atomics.add(next, 0, 1000);
       parentPort.postMessage([[0, { path: "part-0.ts", text: "// by a thread" }]]);
     });`,
  );
  const file = "generated/part-0.ts";
  const others = Object.entries(expected).filter(([name]) => name !== file);
  expect(Object.entries(written).filter(([name]) => name !== file)).toEqual(others);
  expect(written[file]).toBe("// by a thread");
});

test.each([
  ["ends at once", "process.exit(1);"],
  ["throws", "throw new Error('as it was told');"],
  [
    "takes modules and throws",
    `import { parentPort } from "node:worker_threads";
     parentPort.once("message", ({ next }) => {
       Atomics.add(next, 0, 5);
       throw new Error("as it was told");
     });`,
  ],
])("what a thread that %s leaves undone is done all the same", (_, thread) => {
  expect(writtenWith(thread)).toEqual(expected);
});
