/** Processes that are restarted in place to run code that was edited, while their actors keep their state. */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { thisHost, thisProc } from "viceroy";
import { beforeAll, expect, test } from "vitest";
import { emptyDirectory, loadVaults, type Vaults } from "../../supervise/vault.js";
import { collectUnhandledFaults } from "../unhandled-faults.js";

const faults = collectUnhandledFaults();
let { DeepVault, LeakyVault } = {} as Vaults;
beforeAll(async () => {
  ({ DeepVault, LeakyVault } = await loadVaults());
});

/** Makes a module that the processes run first, and which notes its version. */
function versionedModule() {
  const folder = emptyDirectory();
  const file = join(folder, "bootstrap.mjs");
  const notes = join(folder, "notes");
  appendFileSync(notes, "");
  return {
    bootstrap: pathToFileURL(file),
    write(version: string) {
      const note = `appendFileSync(${JSON.stringify(notes)}, ${JSON.stringify(`${version}\n`)});`;
      writeFileSync(file, `import { appendFileSync } from "node:fs";\n${note}\n`);
    },
    notes: () => readFileSync(notes, "utf8").trim().split("\n"),
  };
}

test("new processes run the edited code at the same addresses, and actors that can save their state keep it without a policy", async () => {
  const module = versionedModule();
  module.write("old");
  await using procs = thisHost().spawnProcs({ gpus: 2 }, { bootstrap: module.bootstrap });
  const vaults = procs.spawn("vaults", DeepVault, 100);
  const leaky = procs.spawn("leaky", LeakyVault, 100);
  await vaults.add.call(5);
  await leaky.add.call(5);
  const before = [...(await vaults.life.call()).values()].map(({ pid }) => pid);
  module.write("new");
  await procs.restart({ code: true });
  expect(module.notes()).toEqual(["old", "old", "new", "new"]);
  const after = [...(await vaults.life.call()).values()];
  expect(after.map(({ sum, incarnation, log }) => [sum, Number(incarnation), log[1]])).toEqual([
    [105, 1, "restore"],
    [105, 1, "restore"],
  ]);
  expect(after.some(({ pid }) => before.includes(pid))).toBe(false);
  // Its class cannot restore a state.
  expect([...(await leaky.life.call()).values()].map(({ sum }) => sum)).toEqual([100, 100]);
  expect(faults).toEqual([]);
});

test("a slice is restarted alone, and a state that cannot be saved leaves the old process running", async () => {
  await using procs = thisHost().spawnProcs({ gpus: 2 });
  const vaults = procs.spawn("vaults", DeepVault, 1);
  const before = [...(await vaults.life.call()).values()].map(({ pid }) => pid);
  await procs.slice({ gpus: 1 }).restart({ code: true });
  const after = [...(await vaults.life.call()).values()].map(({ pid }) => pid);
  expect(after[0]).toBe(before[0]);
  expect(after[1]).not.toBe(before[1]);
  await vaults.slice({ gpus: 0 }).spoil.callOne("throw");
  await expect(procs.restart({ code: true })).rejects.toThrow(
    /^cannot replace rank 0 of mesh "procs": .*the door is stuck/,
  );
  expect([...(await vaults.life.call()).values()].map(({ pid }) => pid)).toEqual(after);
});

test("malformed options, and the own process", async () => {
  await using procs = thisHost().spawnProcs({ gpus: 1 });
  await expect(procs.restart({} as never)).rejects.toThrow(
    'cannot restart processes of "procs": expected code: true, got undefined',
  );
  await expect(procs.restart({ code: true, drain: -1 })).rejects.toThrow(RangeError);
  await expect(procs.restart({ code: true, cod: 1 } as never)).rejects.toThrow(
    'cannot restart processes of "procs": expected one of the options code, drain, got "cod"',
  );
  await expect(thisProc().restart({ code: true })).rejects.toThrow(
    "cannot restart the own process: it was not spawned from here",
  );
});
