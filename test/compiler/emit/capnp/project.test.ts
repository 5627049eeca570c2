/** `emit: ["ts", "capnp"]` in a project, through the built command. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const cli = fileURLToPath(new URL("../../../../dist/cli/viceroy.js", import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), "viceroy-capnp-"));
afterAll(() => rmSync(folder, { recursive: true }));

function write(file: string, text: string): void {
  mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
  writeFileSync(path.join(folder, file), text);
}

function compile(emit: string, ...options: string[]): { readonly code: number | null; readonly text: string } {
  write("viceroy.config.ts", `export default { schemas: "schemas/**/*.ts", emit: ${emit} };\n`);
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, "compile", ...options], { cwd: folder });
  return { code: status, text: `${stdout}${stderr}` };
}

beforeAll(() => {
  write("package.json", '{ "name": "trees", "type": "module" }\n');
  write("schemas/deep/tree.ts", 'import type { Leaf } from "../leaf.js";\nexport interface Tree { leaves: Leaf[] }\n');
  write("schemas/leaf.ts", "export interface Leaf { size: number }\n");
});

test("compile writes readers beside the .capnp files, and the check reports drift", () => {
  expect(compile('["ts", "capnp"]')).toMatchObject({ code: 0 });
  const text = (file: string) => readFileSync(path.join(folder, file), "utf8");
  expect(text("generated/capnp/deep/tree.capnp")).toMatch(
    /using InLeaf = import "..\/leaf.capnp";[\s\S]*List\(InLeaf.Leaf\)/,
  );
  expect(text("generated/capnp/deep/tree.ts")).toContain('import type { Tree } from "../../deep/tree.js";');
  expect(compile('["ts", "capnp"]', "--check")).toMatchObject({ code: 0 });
  write("generated/capnp/leaf.capnp", text("generated/capnp/leaf.capnp").replace("Float64", "Float32"));
  const { code, text: told } = compile('["ts", "capnp"]', "--check");
  expect(code).toBe(1);
  expect(told).toContain("generated/capnp/leaf.capnp:1:1 error VC3001");
});

test("compile without ts writes only .capnp files and removes files that are no longer requested", () => {
  expect(compile('["ts", "capnp"]')).toMatchObject({ code: 0 });
  expect(compile('["capnp"]')).toMatchObject({ code: 0 });
  expect(existsSync(path.join(folder, "generated/capnp/leaf.capnp"))).toBe(true);
  expect(existsSync(path.join(folder, "generated/capnp/leaf.ts"))).toBe(false);
  expect(compile('["ts"]')).toMatchObject({ code: 0 });
  expect(existsSync(path.join(folder, "generated/capnp"))).toBe(false);
});

test("a schema file whose output path belongs to the readers is refused", () => {
  write("schemas/capnp/leaf.ts", "export interface Other { size: number }\n");
  const { code, text } = compile('["ts", "capnp"]');
  rmSync(path.join(folder, "schemas/capnp"), { recursive: true });
  expect(code).toBe(2);
  expect(text).toContain("error VC1008");
});
