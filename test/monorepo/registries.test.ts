/** Programs that load the actors of several packages into one process. */
import { expect, test } from "vitest";
import { read } from "../compiler/folder.js";
import { addFiles, compiled, counterPackages, linkedWorkspace, manifest, runMain } from "./light-workspace.js";

test("a program that loads two packages with the same actor id ends with an error", async () => {
  const folder = linkedWorkspace({
    ...counterPackages("counters", "one-actors"),
    ...counterPackages("copies", "two-actors"),
    "one/package.json": manifest("one", "./generated/registry.ts"),
    "one/viceroy.config.ts": 'export default { actors: ["@acme/one-actors"] };\n',
    "two/package.json": manifest("two", "./generated/registry.ts"),
    "two/viceroy.config.ts": 'export default { actors: ["@acme/two-actors"] };\n',
    "app/package.json": manifest("app", "./main.ts"),
    "app/main.ts": `import "@acme/one";
import "@acme/two";
import { MemoryCounter as One } from "@acme/one-actors";
import { thisHost } from "viceroy";
await using procs = thisHost().spawnProcs({ gpus: 1 });
console.log(await procs.spawn("one", One).add.callOne(2));
const { MemoryCounter: Two } = await import("@acme/two-actors");
console.log(await procs.spawn("two", Two).add.callOne(3));
`,
  });
  await compiled(folder, "counters");
  // Each registry is compiled alone, so that no compiler sees both packages.
  const lock = read(folder, "counters/viceroy.lock").replaceAll("@acme/counters", "@acme/copies");
  addFiles(folder, { "copies/viceroy.lock": lock });
  for (const name of ["copies", "one", "two"]) await compiled(folder, name);
  const { code, stdout, stderr } = runMain(folder, "app");
  expect({ code, stdout }).toEqual({ code: 1, stdout: "2\n" });
  expect(stderr).toMatch(
    /Error: cannot register @acme\/copies\/schemas\/counter#Counter: @acme\/counters\/schemas\/counter#Counter has the same id, because one of the packages has a copy of the other's lock; remove the block of the actor from viceroy\.lock of the package that is not in use yet, and run `npx viceroy compile` there, got id 0x[0-9a-f]{8}\n/,
  );
});
