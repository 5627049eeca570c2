/** Compiles the files of this folder. A line below `@ts-expect-error` must fail, or the directive is an error. */
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const folder = fileURLToPath(new URL(".", import.meta.url));

test("allowed code of users compiles, and forbidden code does not compile", () => {
  const compiler = fileURLToPath(import.meta.resolve("typescript/package.json").replace("package.json", "bin/tsc"));
  expect(compile(compiler, folder)).toEqual({ status: 0, stdout: "" });
});

test("generated code compiles with an older version of TypeScript", () => {
  // This repository uses a new version of TypeScript, and protoc-gen-es depends on an older one.
  const generator = createRequire(import.meta.resolve("@bufbuild/protoc-gen-es/package.json"));
  const older = createRequire(generator.resolve("@bufbuild/protoplugin"));
  expect((older("typescript/package.json") as { version: string }).version).toMatch(/^5\./);
  expect(compile(older.resolve("typescript/bin/tsc"), `${folder}older`)).toEqual({ status: 0, stdout: "" });
});

function compile(compiler: string, project: string): { status: number | null; stdout: string } {
  const { status, stdout } = spawnSync(process.execPath, [compiler, "-p", project, "--noEmit"], { encoding: "utf8" });
  return { status, stdout };
}
