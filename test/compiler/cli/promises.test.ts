/** What developers may rely on while they work: files are rewritten when they must be, and the same input is the same output. */
import { readdirSync, statSync, utimesSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { compile } from "../../../compiler/cli/commands/compile.js";
import { Project } from "../../../compiler/cli/project.js";
import { addFiles, folderWith, listFiles, read, TestIo } from "../folder.js";

const a = `import type { Actor, Int32 } from "viceroy/schema";

/** One thing. */
export interface A {
  name: string;
  size: Int32;
}

export interface Store extends Actor {
  get(key: string): A;
}
`;

const files: Readonly<Record<string, string>> = {
  "package.json": '{ "name": "shop", "type": "module" }',
  "viceroy.config.ts": 'export default { schemas: "schemas/**/*.ts", actors: "src/**/*.ts" };\n',
  "schemas/a.ts": a,
  "schemas/b.ts": 'import type { A } from "./a.js";\nexport interface B {\n  first: A;\n  kind: "x" | "y";\n}\n',
  "schemas/deep/c.ts": 'import type { B } from "../b.js";\nexport type C = B[];\n',
  "src/store.ts": 'import { StoreActor } from "../generated/a.js";\nexport class MemoryStore extends StoreActor {}\n',
};

async function run(folder: string, draft = false): Promise<readonly string[]> {
  const io = new TestIo();
  expect(await compile(new Project(folder), { check: false, json: false, draft }, io)).toBe(0);
  expect(io.errors).toEqual([]);
  return io.lines;
}

function written(folder: string): readonly string[] {
  return ["viceroy.lock", ...listFiles(path.join(folder, "generated")).map((name) => `generated/${name}`)];
}

/** When each file was written, and which file it is: one that is written anew is another, even with the same bytes. */
function stamps(folder: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    written(folder).map((name) => {
      const { mtimeMs, ino } = statSync(path.join(folder, name));
      return [name, `${mtimeMs} ${ino}`];
    }),
  );
}

const unrelated: readonly { readonly what: string; readonly edit: Readonly<Record<string, string>> }[] = [
  { what: "another file of the program", edit: { "src/notes.ts": "export const unrelated = 1;\n" } },
  { what: "the body of an actor", edit: { "src/store.ts": `${files["src/store.ts"]}// Thought about it.\n` } },
  { what: "a comment in a schema that documents nothing", edit: { "schemas/a.ts": `// Reviewed.\n${a}` } },
  { what: "how a schema is set", edit: { "schemas/a.ts": a.replaceAll("  ", "    ") } },
  { what: "a file that is no source at all", edit: { "README.md": "# Shop\n" } },
  {
    what: "the version of the package",
    edit: { "package.json": '{ "name": "shop", "version": "2.0.0", "type": "module" }' },
  },
];

test.each(unrelated)("an edit that changes nothing rewrites nothing: $what", async ({ edit }) => {
  for (const draft of [false, true]) {
    const folder = folderWith(files);
    await run(folder);
    const old = new Date(1_000_000_000_000);
    for (const name of written(folder)) utimesSync(path.join(folder, name), old, old);
    const before = stamps(folder);
    addFiles(folder, edit);
    const lines = await run(folder, draft);
    expect(lines.filter((line) => /^(wrote|updated|removed)/.test(line))).toEqual([]);
    expect(stamps(folder)).toEqual(before);
  }
});

test("files written in another order, and patterns in another order, give the same bytes", async () => {
  const contents = (folder: string) => written(folder).map((name) => [name, read(folder, name)]);
  const first = folderWith(files);
  await run(first);
  const expected = contents(first);
  const patterns = ["schemas/*.ts", "schemas/deep/*.ts", "schemas/a.ts"];
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray(Object.entries(files), { minLength: Object.keys(files).length }),
      fc.shuffledSubarray(patterns, { minLength: patterns.length }),
      async (entries, schemas) => {
        const folder = folderWith({});
        for (const [name, text] of entries) addFiles(folder, { [name]: text });
        addFiles(folder, {
          "viceroy.config.ts": `export default { schemas: ${JSON.stringify(schemas)}, actors: "src/**/*.ts" };\n`,
        });
        await run(folder);
        expect(contents(folder)).toEqual(expected);
      },
    ),
    { numRuns: 8 },
  );
});

test("nothing but what was asked for is left on disk", async () => {
  const folder = folderWith(files);
  await run(folder);
  await run(folder);
  expect(readdirSync(folder).sort()).toEqual(
    [".viceroy", "generated", "package.json", "schemas", "src", "viceroy.config.ts", "viceroy.lock"].sort(),
  );
  expect(listFiles(path.join(folder, ".viceroy"))).toEqual(["state.json"]);
});
