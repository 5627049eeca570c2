import { expect, test } from "vitest";
import { init } from "../../../compiler/cli/init.js";
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

test("init never overwrites, and may be repeated", async () => {
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

test("a package.json without a name, as npm makes it in an empty folder, gets one", async () => {
  const folder = folderWith({ "package.json": '{"dependencies":{"x":"1.0.0"}}' });
  const io = new TestIo();
  expect(await init(folder, io)).toBe(0);
  const { name, ...rest } = JSON.parse(read(folder, "package.json")) as { name: string };
  expect(name).toMatch(/^[a-z0-9][a-z0-9._-]*$/);
  expect(rest).toEqual({ dependencies: { x: "1.0.0" }, type: "module" });
  expect(io.lines).toContain(`extended package.json with "name": "${name}" and "type": "module"`);
});

test("a package.json that cannot be read is said, and left as it is", async () => {
  const folder = folderWith({ "package.json": "{" });
  const io = new TestIo();
  expect(await init(folder, io)).toBe(3);
  expect(io.errors).toEqual([expect.stringMatching(/^cannot read package\.json: /)]);
  expect(read(folder, "package.json")).toBe("{");
});
