/**
 * Golden cases of the Cap'n Proto emitter. After an intended change, `UPDATE_GOLDEN=1 npx vitest run
 * test/compiler/emit/capnp/golden` rewrites them: review the difference.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { peer, runPeer } from "../../../peers.js";
import { cases, compileCase } from "./compile.js";

const root = fileURLToPath(new URL("golden/", import.meta.url));

test.each(cases)("the generated files of %s equal its golden files", (name) => {
  const { files } = compileCase(name);
  const folder = path.join(root, name);
  if (process.env["UPDATE_GOLDEN"] === "1") {
    rmSync(folder, { recursive: true, force: true });
    for (const file of files) {
      mkdirSync(path.dirname(path.join(folder, file.path)), { recursive: true });
      writeFileSync(path.join(folder, file.path), file.text);
    }
  }
  const present = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => /\.\w+$/.test(file));
  expect(files.map((file) => file.path)).toEqual(present.sort());
  for (const file of files) expect(file.text, file.path).toBe(readFileSync(path.join(folder, file.path), "utf8"));
});

test.each(cases)("%s is generated identically a second time, after another case", (name) => {
  const first = compileCase(name).files;
  compileCase("kinds");
  expect(compileCase(name).files).toEqual(first);
});

test.skipIf(peer("capnp") === undefined).each(cases)("the capnp tool accepts %s", (name) => {
  const files = compileCase(name).files.filter((file) => file.path.endsWith(".capnp"));
  const { status, stderr } = runPeer("capnp", ["compile", "-o-", ...files.map((file) => file.path)], {
    cwd: path.join(root, name),
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});

test("a member without a place in Cap'n Proto gets a diagnostic", () => {
  expect(compileCase("kinds").diagnostics).toEqual([
    "VC4030 Order.answer is not part of the Cap'n Proto layout: ports, meshes, buffers and tensors are valid inside a running mesh only",
    "VC4030 Order.answers is not part of the Cap'n Proto layout: ports, meshes, buffers and tensors are valid inside a running mesh only",
  ]);
  for (const name of cases) if (name !== "kinds") expect(compileCase(name).diagnostics, name).toEqual([]);
});
