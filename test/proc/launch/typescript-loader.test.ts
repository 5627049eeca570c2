import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { findTypeScriptLoader, hasTypeScriptLoader } from "../../../runtime/proc/launch/typescript-loader.js";

test("a registry in TypeScript is loaded with the tsx of the program", () => {
  const loader = findTypeScriptLoader(["file:///app/registry.js", import.meta.url]);
  expect(loader).toMatch(/\/tsx\/dist\/esm\/api\/index\.mjs$/);
  expect(existsSync(fileURLToPath(loader!))).toBe(true);
});

test("a program in JavaScript or without tsx gets no loader", () => {
  expect(findTypeScriptLoader([])).toBeUndefined();
  expect(findTypeScriptLoader(["file:///app/generated/registry.js"])).toBeUndefined();
  expect(findTypeScriptLoader(["file:///nowhere/generated/registry.ts"])).toBeUndefined();
});

test.each([
  [["--import", "tsx"], ""],
  [["--import=tsx"], ""],
  [["--require", "/app/node_modules/tsx/dist/preflight.cjs"], ""],
  [["--import=file:///app/node_modules/@swc-node/register/esm-register.mjs"], ""],
  [[], "--max-old-space-size=64 --import tsx"],
])("%j with NODE_OPTIONS %j brings a loader of its own", (execArgv, nodeOptions) => {
  expect(hasTypeScriptLoader(execArgv, nodeOptions)).toBe(true);
});

test("other options contain no loader", () => {
  expect(hasTypeScriptLoader(["--enable-source-maps", "--conditions=import"], "--max-old-space-size=64")).toBe(false);
  expect(
    hasTypeScriptLoader(["--require", "/app/node_modules/vitest/suppress-warnings.cjs", "--import=./tracing.js"]),
  ).toBe(false);
  expect(hasTypeScriptLoader(["--require", "/home/tsx/node_modules/vitest/suppress-warnings.cjs"])).toBe(false);
});
