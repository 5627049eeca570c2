/** Hosts of a job that are killed and come back without their stores, as a machine with a new disk does. */
import { mkdirSync, realpathSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { folderWith } from "../folder.js";
import { makeProgram } from "./program.js";

test("a host that comes back with an empty store gets the tree of its mesh before the ranks are started on it", async () => {
  const cache = path.join(realpathSync(folderWith({})), "cache-of-hosts");
  mkdirSync(cache, { mode: 0o700 });
  const program = await makeProgram([]);
  const { value } = await program.run(`
    const { ProcessJob } = await import("viceroy/job");
    viceroy.onUnhandledFault(() => {});
    const own = process.env.XDG_CACHE_HOME;
    process.env.XDG_CACHE_HOME = ${JSON.stringify(cache)};
    await using job = new ProcessJob({ meshes: { workers: { hosts: 2 } }, cache: null, progress: "silent" });
    const { workers } = await job.state();
    process.env.XDG_CACHE_HOME = own;
    const first = await workers.sync();
    const restart = { policy: "on-failure", maxRestarts: 1, within: 600_000, backoff: 0 } as const;
    const old = workers.spawnProcs({}, { name: "old", restart }).spawn("old sites", Here);
    const before = await values(old.pid.call());
    write("src/text.ts", 'export const text = "second";\\n');
    const second = await workers.sync();
    const fresh = workers.spawnProcs({}, { name: "new", restart }).spawn("new sites", Here);
    await values(fresh.text.call());
    // The next sync would bring this edit.
    write("src/text.ts", 'export const text = "third";\\n');
    let returned = 0;
    const events = job.watch()[Symbol.asyncIterator]();
    const daemons = new Map<number, number>();
    for await (const { rank, line } of job.logs()) {
      const [, pid] = /process (\\d+), listens at/.exec(line) ?? [];
      if (pid !== undefined) daemons.set(rank, Number(pid));
    }
    for (const pid of daemons.values()) process.kill(pid, "SIGKILL");
    rmSync(${JSON.stringify(path.join(cache, "viceroy/code"))}, { recursive: true });
    while (returned < 2) if ((await events.next()).value.kind === "host-replaced") returned++;
    const wait = { wait: true };
    const texts = [await values(old.text.with(wait).call()), await values(fresh.text.with(wait).call())];
    const folders = [await values(old.folder.call()), await values(fresh.folder.call())];
    const after = await values(old.pid.call());
    print({ before, after, texts, folders, trees: [first, second].map(({ tree }) => tree) });
  `);
  const { before, after, texts, folders, trees } = value;
  expect(after.some((pid: number) => before.includes(pid))).toBe(false);
  expect(texts).toEqual([
    ["first", "first"],
    ["second", "second"],
  ]);
  const store = path.join(cache, "viceroy/code/trees");
  for (const [i, tree] of trees.entries()) {
    // Both hosts use the store of this machine. The one that is later finds the folder there, or writes another one.
    for (const folder of folders[i]) expect(folder.replace(/\.\d+$/, "")).toBe(path.join(store, tree));
  }
});
