import { expect, test } from "vitest";
import { init } from "../../../compiler/cli/commands/init.js";
import { folderWith, listFiles, read, TestIo } from "../folder.js";

test("init writes a project into an empty folder", async () => {
  const folder = folderWith({});
  const io = new TestIo();
  expect(await init(folder, io)).toBe(0);
  expect(listFiles(folder)).toEqual([
    ".gitignore",
    "package.json",
    "schemas/counter.ts",
    "src/main.ts",
    "src/memory-counter.ts",
    "tsconfig.json",
    "viceroy.config.ts",
  ]);
  expect(JSON.parse(read(folder, "package.json"))).toMatchObject({ private: true, type: "module" });
  expect(read(folder, ".gitignore")).toBe("node_modules/\n.viceroy/\n");
});

test("init keeps existing contents and changes nothing when it is repeated", async () => {
  const folder = folderWith({
    "src/main.ts": "mine",
    ".gitignore": "node_modules/\nbuild",
    "package.json": '{"name":"shop","dependencies":{"x":"1.0.0"}}',
  });
  const io = new TestIo();
  await init(folder, io);
  expect(io.lines).toContain("kept     src/main.ts");
  expect(read(folder, "src/main.ts")).toBe("mine");
  expect(read(folder, ".gitignore")).toBe("node_modules/\nbuild\n.viceroy/\n");
  expect(JSON.parse(read(folder, "package.json"))).toEqual({
    name: "shop",
    dependencies: { x: "1.0.0" },
    type: "module",
  });
  const before = listFiles(folder).map((name) => read(folder, name));
  await init(folder, io);
  expect(listFiles(folder).map((name) => read(folder, name))).toEqual(before);
});

test("init adds a name to a package.json without one, as npm creates it in an empty folder", async () => {
  const folder = folderWith({ "package.json": '{"dependencies":{"x":"1.0.0"}}' });
  const io = new TestIo();
  expect(await init(folder, io)).toBe(0);
  const { name, ...rest } = JSON.parse(read(folder, "package.json")) as { name: string };
  expect(name).toMatch(/^[a-z0-9][a-z0-9._-]*$/);
  expect(rest).toEqual({ dependencies: { x: "1.0.0" }, type: "module" });
  expect(io.lines).toContain(`extended package.json with "name": "${name}" and "type": "module"`);
});

test("init reports a package.json that is not valid JSON and leaves it unchanged", async () => {
  const folder = folderWith({ "package.json": "{" });
  const io = new TestIo();
  expect(await init(folder, io)).toBe(3);
  expect(io.errors).toEqual([expect.stringMatching(/^cannot read package\.json: /)]);
  expect(read(folder, "package.json")).toBe("{");
});

const commonJs = '{ "name": "shop", "version": "1.0.0", "type": "commonjs" }\n';

test("init leaves a package of CommonJS modules unchanged and explains the options", async () => {
  const files = { "package.json": commonJs, "index.js": "module.exports = 1;\n" };
  const folder = folderWith(files);
  const io = new TestIo();
  expect(await init(folder, io)).toBe(3);
  const [said] = io.errors;
  expect(io.errors).toHaveLength(1);
  expect(said).toContain(
    'cannot use package.json: Viceroy generates ES modules, and "type" is "commonjs". Either\n  npx viceroy init ',
  );
  expect(said).toContain('write "type": "module" into package.json');
  expect(io.lines).toEqual([]);
  expect(listFiles(folder)).toEqual(Object.keys(files).sort());
  expect(read(folder, "package.json")).toBe(commonJs);
  // The advice of the error works and leaves the package unchanged as well.
  expect(await init(`${folder}/mesh`, io)).toBe(0);
  expect(JSON.parse(read(folder, "mesh/package.json"))).toMatchObject({ name: "mesh", type: "module" });
  expect(read(folder, "package.json")).toBe(commonJs);
});

test("init refuses a package without a type if its own code may be CommonJS", async () => {
  const folder = folderWith({ "package.json": '{ "name": "shop" }', "lib/index.js": "module.exports = 1;\n" });
  const io = new TestIo();
  expect(await init(folder, io)).toBe(3);
  expect(io.errors[0]).toContain('there is no "type", so that lib/index.js may be a CommonJS module');
  expect(read(folder, "package.json")).toBe('{ "name": "shop" }');
});

test.each([
  [
    '{ "compilerOptions": { "module": "commonjs", "target": "es5", "ignoreDeprecations": "6.0" } }',
    [
      '"module" is "commonjs", and Viceroy generates ES modules: set "module": "nodenext"',
      '"target" is "es5", and programs use `await` at the top level: set "target": "es2022"',
      '"lib" has no disposable resources: set "lib": ["es2023", "esnext.disposable"]',
    ],
  ],
  [
    "{}",
    [
      '"module" is not set, and Viceroy generates ES modules: set "module": "nodenext"',
      '"target" is not set, and programs use `await` at the top level: set "target": "es2022"',
      '"lib" has no disposable resources: set "lib": ["es2023", "esnext.disposable"]',
    ],
  ],
  [
    '{ "compilerOptions": { "module": "esnext", "target": "esnext" } }',
    ['"moduleResolution" is not set, which does not find "viceroy/schema": set "module": "nodenext" alone'],
  ],
  [
    '{ "extends": "./base.json", "compilerOptions": { "lib": ["es2022"] } }',
    ['"lib" has no disposable resources: set "lib": ["es2023", "esnext.disposable"]'],
  ],
  ['{ "extends": "./gone.json" }', [expect.stringContaining("cannot read tsconfig.json: ")]],
  ["{ compilerOptions: ", [expect.stringContaining("cannot read tsconfig.json: ")]],
])("init reports an unsuitable tsconfig.json and writes nothing: %s", async (text, problems) => {
  const files = { "tsconfig.json": text, "base.json": '{ "compilerOptions": { "module": "nodenext" } }' };
  const folder = folderWith(files);
  const io = new TestIo();
  expect(await init(folder, io)).toBe(3);
  const lines = io.errors.join("\n").split("\n");
  expect(lines[0]).toBe("cannot use tsconfig.json:");
  expect(lines.slice(1, 1 + problems.length).map((line) => line.trim())).toEqual(problems);
  expect(lines.at(-2)).toBe("Change it and run this command again, or");
  expect(listFiles(folder)).toEqual(Object.keys(files).sort());
});

test.each([
  '{ "extends": "./base.json" }',
  '{ "compilerOptions": { "module": "preserve", "target": "es2024", "lib": ["esnext"] } } // a comment',
  '{ "compilerOptions": { "module": "esnext", "moduleResolution": "bundler", "target": "esnext" } }',
])("init keeps a suitable tsconfig.json: %s", async (text) => {
  const folder = folderWith({ "tsconfig.json": text, "base.json": '{ "compilerOptions": { "module": "nodenext" } }' });
  const io = new TestIo();
  expect(await init(folder, io)).toBe(0);
  expect(io.lines).toContain("kept     tsconfig.json");
  expect(read(folder, "tsconfig.json")).toBe(text);
});
