import { chmodSync, readdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test, vi } from "vitest";
import { scan } from "../../../runtime/sync/scan/scan.js";
import { addFiles, folderWith } from "../folder.js";

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Longer than the tick of any file system. */
const later = () => sleep(2_100);

test("an unchanged file is read once, and again after any change of content, mode or identity", async () => {
  const root = folderWith({ "a.ts": "a", "b.ts": "b", "old.ts": "o" });
  const memory = path.join(root, ".viceroy/sync");
  // Times of the content in the past and in the future make no difference.
  utimesSync(path.join(root, "a.ts"), 1, 1);
  utimesSync(path.join(root, "old.ts"), 4e9, 4e9);
  await later();
  const first = await scan({ roots: [root], memory });
  expect(first.filesRead).toBe(3);
  const second = await scan({ roots: [root], memory });
  expect(second.filesRead).toBe(0);
  expect(second.manifest.id).toBe(first.manifest.id);

  writeFileSync(path.join(root, "b.ts"), "B");
  const changed = await scan({ roots: [root], memory });
  expect(changed.filesRead).toBe(1);
  expect(changed.manifest.id).not.toBe(first.manifest.id);

  // Another file with the same size and the same time of the content.
  addFiles(root, { "new.ts": "x" });
  utimesSync(path.join(root, "new.ts"), 1, 1);
  renameSync(path.join(root, "new.ts"), path.join(root, "a.ts"));
  const replaced = await scan({ roots: [root], memory });
  expect(replaced.manifest.id).toBe((await scan({ roots: [root] })).manifest.id);
});

test("a file that changed in the last two seconds is read again, because the next change may leave no trace", async () => {
  const root = folderWith({ "old.ts": "o" });
  const memory = path.join(root, ".viceroy/sync");
  await later();
  addFiles(root, { "new.ts": "n" });
  expect((await scan({ roots: [root], memory })).filesRead).toBe(2);
  expect((await scan({ roots: [root], memory })).filesRead).toBe(1);
});

test("a process whose clock is an hour off remembers the same files", async () => {
  const root = folderWith({ "old.ts": "o" });
  const memory = path.join(root, ".viceroy/sync");
  await later();
  addFiles(root, { "new.ts": "n" });
  for (const hours of [1, -1]) {
    vi.useFakeTimers({ now: Date.now() + hours * 3_600_000, toFake: ["Date"] });
    try {
      await scan({ roots: [root], memory });
      expect((await scan({ roots: [root], memory })).filesRead).toBe(1);
    } finally {
      vi.useRealTimers();
    }
  }
});

test("a damaged memory, one that others could have written, and a folder that cannot be written cost time only", async () => {
  const root = folderWith({ "a.ts": "a" });
  const memory = path.join(root, ".viceroy/sync");
  await later();
  const { manifest } = await scan({ roots: [root], memory });
  const [file = ""] = readdirSync(memory);
  const bytes = readFileSync(path.join(memory, file));
  writeFileSync(path.join(memory, file), bytes.subarray(0, bytes.length - 5));
  expect(await scan({ roots: [root], memory })).toMatchObject({ filesRead: 1, manifest: { id: manifest.id } });
  expect(await scan({ roots: [root], memory })).toMatchObject({ filesRead: 0, manifest: { id: manifest.id } });
  chmodSync(memory, 0o777);
  expect(await scan({ roots: [root], memory })).toMatchObject({ filesRead: 1, manifest: { id: manifest.id } });
  const none = path.join(root, "a.ts/none");
  expect(await scan({ roots: [root], memory: none })).toMatchObject({ filesRead: 1, manifest: { id: manifest.id } });
});
