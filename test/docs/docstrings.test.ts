/** Compiles the examples in docstrings against the declarations of the built package, as users get them. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { root } from "../examples/program.js";

interface Example {
  /** The source file and the line of the fence: `runtime/actor/call/future.ts:35`. */
  readonly place: string;
  readonly code: string;
}

const examples = ["runtime", "compiler", "schemas"].flatMap((folder) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => examplesOf(path.posix.join(folder, file.replaceAll(path.sep, "/")))),
);

test("docstrings contain more than 20 examples", () => expect(examples.length).toBeGreaterThan(20));

test("every example in a docstring compiles", () => {
  const folder = path.join(root, ".viceroy/docstrings");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false, rootDir: "../.." };
  writeFileSync(
    path.join(folder, "tsconfig.json"),
    JSON.stringify({ extends: "../../tsconfig.json", compilerOptions, include: ["."], exclude: [] }),
  );
  for (const { place, code } of examples) {
    writeFileSync(path.join(folder, `${place.replaceAll(/[/:.]/g, "-")}.ts`), `${code}\nexport {};\n`);
  }
  const compiler = path.join(root, "node_modules/typescript/bin/tsc");
  let output = "";
  try {
    execFileSync(process.execPath, [compiler, "-p", ".", "--noEmit"], { cwd: folder, encoding: "utf8" });
  } catch (error) {
    output = (error as { stdout: string }).stdout;
  }
  expect(output).toBe("");
  rmSync(folder, { recursive: true });
});

/** Returns the TypeScript blocks that follow the `@example` tags of a file. */
function examplesOf(file: string): Example[] {
  const lines = readFileSync(path.join(root, file), "utf8").split("\n");
  return lines.flatMap((line, i): Example[] => {
    if (!/^\s*\* @example$/.test(line) || !/^\s*\* ```ts$/.test(lines[i + 1] ?? "")) return [];
    const end = lines.findIndex((other, at) => at > i + 1 && /^\s*\* ```$/.test(other));
    const code = lines.slice(i + 2, end).map((text) => text.replace(/^\s*\* ?/, ""));
    return [{ place: `${file}:${i + 2}`, code: code.join("\n") }];
  });
}
