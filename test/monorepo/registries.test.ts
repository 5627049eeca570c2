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

test("an actor class extends a class of another package, and both run", async () => {
  const folder = linkedWorkspace({
    ...counterPackages("counters", "counter-actors"),
    "app/package.json": manifest("app", "./main.ts"),
    "app/viceroy.config.ts": 'export default { actors: ["src/*.ts", "@acme/counter-actors"] };\n',
    "app/src/double-counter.ts": `import { MemoryCounter } from "@acme/counter-actors";
export class DoubleCounter extends MemoryCounter {
  override add(by: number) { return super.add(2 * by); }
}
`,
    "app/main.ts": `import { MemoryCounter } from "@acme/counter-actors";
import { thisHost } from "viceroy";
import "./generated/registry.js";
import { DoubleCounter } from "./src/double-counter.js";
await using procs = thisHost().spawnProcs({ gpus: 1 });
for (const Class of [MemoryCounter, DoubleCounter]) {
  const counter = procs.spawn(Class.name, Class);
  await counter.add.callOne(2);
  console.log(await counter.add.callOne(1));
}
`,
  });
  for (const name of ["counters", "app"]) await compiled(folder, name);
  expect(runMain(folder, "app")).toEqual({ code: 0, stdout: "3\n6\n", stderr: "" });
});

test("a registry that is older or newer than the contract of its actors says which package to compile", async () => {
  const counter = (result: string) =>
    `import type { Actor, Int32 } from "viceroy/schema";\nexport interface Counter extends Actor { add(by: Int32): ${result} }\n`;
  const folder = linkedWorkspace({
    ...counterPackages("counters", "counter-actors"),
    "app/package.json": manifest("app", "./main.ts"),
    "app/viceroy.config.ts": 'export default { actors: ["@acme/counter-actors"] };\n',
    "app/main.ts": `import { MemoryCounter } from "@acme/counter-actors";
import { thisHost } from "viceroy";
import "./generated/registry.js";
await using procs = thisHost().spawnProcs({ gpus: 1 });
console.log(await procs.spawn("counter", MemoryCounter).add.callOne(1));
`,
  });
  for (const name of ["counters", "app"]) await compiled(folder, name);
  const stale =
    /cannot use @acme\/counters\/schemas\/counter#Counter: its generated module and file:\S+\/app\/generated\/registry\.ts are of different schemas; run `npx viceroy compile`, got fingerprints 0x[0-9a-f]{16} and 0x[0-9a-f]{16}/;
  addFiles(folder, { "counters/schemas/counter.ts": counter("number") });
  await compiled(folder, "counters");
  const newer = runMain(folder, "app");
  expect(newer).toMatchObject({ code: 1, stderr: expect.stringMatching(stale) });
  await compiled(folder, "app");
  expect(runMain(folder, "app")).toEqual({ code: 0, stdout: "1\n", stderr: "" });
  addFiles(folder, { "counters/schemas/counter.ts": counter("Int32") });
  await compiled(folder, "counters");
  expect(runMain(folder, "app")).toMatchObject({ code: 1, stderr: expect.stringMatching(stale) });
});
