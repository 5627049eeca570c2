/** Failures of the disk and of processes that have values on it. These tests need the addon, without which nothing is on disk. */
import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { JobContext, ObjectLostError } from "viceroy/tasks";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as large from "../../fixtures/tasks/large-values.js";
import * as tasks from "../../fixtures/tasks/spilled-values.js";
import { permitted } from "../../permitted.js";
import { until } from "../../proc/until.js";
import { spilledFiles, useOf } from "./spilled.js";

const mebibyte = 2 ** 20;
const isShared = process.env["VICEROY_LINKS"] === "memory";
const program = fileURLToPath(new URL("full-disk.mjs", import.meta.url));
const filled = (bytes: number, value: number) => new Uint8Array(bytes).fill(value);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "spill-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Runs the program that fills the disk in a shell, after other commands. */
function runFull(before: string, command = ["sh"]): Record<string, unknown> {
  const line = `${before} && exec "$@"`;
  const args = [...command.slice(1), "-c", line, "sh", process.execPath, program, folder];
  const { stdout, stderr } = spawnSync(command[0]!, args, { encoding: "utf8" });
  expect(stderr).toBe("");
  return JSON.parse(stdout) as Record<string, unknown>;
}

const mayMount = permitted(
  "a full disk of large values",
  "root, for a mount of its own",
  spawnSync("unshare", ["--mount", "sh", "-c", "mount -t tmpfs -o size=1m tmpfs /mnt"]).status === 0,
);

describe.runIf(isShared)("values on disk", () => {
  test.skipIf(!mayMount)("stay in memory when the disk is full", () => {
    const found = runFull(`mount -t tmpfs -o size=9m tmpfs ${folder}`, ["unshare", "--mount", "sh"]);
    expect(found).toMatchObject({
      name: "ObjectStoreFullError",
      message: expect.stringMatching(
        /^cannot store a value of 2 MiB: there is no room for it: .* the last attempt to write there has failed: ENOSPC: no space left on device.*; release values/,
      ),
      // 4 in memory, and 4 on a disk of 9 MiB.
      ...{ before: { put: 8, intact: 8 }, after: { put: 8, intact: 8 }, left: [] },
    });
  });

  test("stay in memory when the system refuses to write them", () => {
    // In blocks of 512 bytes: as much as a value in memory, and a checksum less than one on disk.
    expect(runFull("ulimit -f 4088")).toMatchObject({
      name: "ObjectStoreFullError",
      message: expect.stringContaining(
        "the last attempt to write there has failed: EFBIG: file too large, write; release",
      ),
      ...{ before: { put: 4, intact: 4 }, after: { put: 4, intact: 4 }, left: [] },
    });
  });

  test("are lost with a clear error when their file is damaged, and others are not", async () => {
    await using context = await JobContext.open({ procs: 1, objects: { memory: 0, folder } });
    const [first, second] = [context.put(filled(mebibyte, 1)), context.put(filled(mebibyte, 2))];
    const [file] = spilledFiles(folder);
    const writable = openSync(`/proc/self/fd/${file}`, "r+");
    writeSync(writable, Uint8Array.of(77), 0, 1, 500_000);
    closeSync(writable);
    const lost = /^cannot read a value of 1 MiB from disk: the bytes 0 to 1048576 of its file have the checksum/;
    await expect(context.get(first)).rejects.toThrow(ObjectLostError);
    await expect(context.get(first)).rejects.toThrow(lost);
    await expect(context.get(context.run(large.first, first))).rejects.toMatchObject({
      remoteName: "ObjectLostError",
      message: expect.stringMatching(lost),
    });
    expect((await context.get(second))[0]).toBe(2);
    expect(await context.get(context.run(large.first, second))).toBe(2);
  });

  test("are gone with a process that is killed, and so is what they have used", async () => {
    await using context = await JobContext.open({ procs: 1, objects: { memory: 4 * mebibyte, folder } });
    const { pid, refs } = await context.get(context.run(tasks.putMany, 5, 2 * mebibyte));
    expect(useOf(context.id)).toMatchObject({ values: 5, spilled: 4 });
    expect(spilledFiles(folder, pid).length).toBe(4);
    process.kill(pid, "SIGKILL");
    await until(() => useOf(context.id).values === 0);
    expect(useOf(context.id)).toEqual({ memory: 0, disk: 0, values: 0, spilled: 0 });
    expect(readdirSync(folder)).toEqual([]);
    await expect(context.get(refs[0]!)).rejects.toThrow(ObjectLostError);
    // The process that takes its place has the slot.
    const next = await context.get(context.run(tasks.putMany, 1, 2 * mebibyte));
    expect(useOf(context.id)).toMatchObject({ values: 1 });
    expect((await context.get(next.refs[0]!))[0]).toBe(0);
  });

  test("of a process that is stopped are read, and others go on", async () => {
    await using context = await JobContext.open({ procs: 2, objects: { memory: 4 * mebibyte, folder } });
    const { pid, refs } = await context.get(context.run(tasks.putMany, 4, 2 * mebibyte - 8192));
    process.kill(pid, "SIGSTOP");
    try {
      // The place of the last value is in its reference.
      expect((await context.get(refs.at(-1)!))[0]).toBe(3);
      const own = [1, 2, 3].map((value) => context.put(filled(2 * mebibyte, value)));
      for (const [i, ref] of own.entries()) expect((await context.get(ref))[0]).toBe(i + 1);
      expect(useOf(context.id)).toMatchObject({ values: 7, spilled: 5 });
    } finally {
      process.kill(pid, "SIGCONT");
    }
    for (const [i, ref] of refs.entries()) expect((await context.get(ref))[0]).toBe(i);
  });
});
