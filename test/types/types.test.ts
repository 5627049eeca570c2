/** The files of this folder compile; each line below a `@ts-expect-error` would not, or the directive itself is an error. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

test("what a user may write compiles, what a user must not write does not", () => {
  const compiler = fileURLToPath(import.meta.resolve("typescript/package.json").replace("package.json", "bin/tsc"));
  const folder = fileURLToPath(new URL(".", import.meta.url));
  const { status, stdout } = spawnSync(process.execPath, [compiler, "-p", folder, "--noEmit"], { encoding: "utf8" });
  expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
});
