import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { scan } from "../../../runtime/sync/scan/scan.js";
import { CodeStoreFiles } from "../../../runtime/sync/store/code-store-files.js";
import { ingest } from "../../../runtime/sync/store/ingest.js";
import { thisOwner } from "../../../runtime/sync/store/owner.js";
import { digestOf } from "../../../runtime/sync/tree/digest.js";
import { chunksOfManifest } from "../../../runtime/sync/tree/manifest.js";
import { addFiles, folderWith, rejection } from "../folder.js";
import { contentOf, newStore, stored, written } from "./trees.js";

const big = Buffer.from(Array.from({ length: 700_000 }, (_, i) => 33 + ((i * i * 7 + i) % 90)));

/** Returns the file of a blob in a store. */
const blobFile = (folder: string, digest: string) => path.join(folder, "blobs", digest.slice(0, 2), digest);

test("a tree is written as it was scanned: files, modes, links and large files", async () => {
  const root = folderWith({ "a.ts": "a", "deep/er/b.ts": "b", "big.bin": big, empty: "" });
  chmodSync(path.join(root, "a.ts"), 0o755);
  symlinkSync("deep/er", path.join(root, "short"));
  const { store, folder } = newStore();
  const found = await scan({ roots: [root] });
  await ingest(found, store);
  const manifest = store.manifest(found.manifest.id, found.manifest.address)!;
  const tree = await store.write(found.manifest.id, manifest);
  expect(contentOf(tree)).toEqual(contentOf(root));
  expect(await store.write(found.manifest.id, manifest)).toBe(tree);
  for (const name of ["", "blobs", "trees", "current", "uses", "temporary"]) {
    expect(lstatSync(path.join(folder, name)).mode & 0o777).toBe(0o700);
  }
  expect(readdirSync(path.join(folder, "temporary"))).toEqual([]);
});

test("a program that writes into its tree changes neither the store nor trees that are written later", async () => {
  const { store } = newStore();
  const first = await written(store, { "a.ts": "one", "b.ts": "b" });
  writeFileSync(path.join(first.folder, "a.ts"), "changed");
  appendFileSync(path.join(first.folder, "b.ts"), "changed");
  const same = await written(store, { "a.ts": "one", "b.ts": "b" });
  expect(same.id).toBe(first.id);
  expect(same.folder).not.toBe(first.folder);
  expect(contentOf(same.folder)).toEqual({ "a.ts": "644 one", "b.ts": "644 b" });
  const other = await written(store, { "a.ts": "one", "c.ts": "b" });
  expect(contentOf(other.folder)).toEqual({ "a.ts": "644 one", "c.ts": "644 b" });
  // Files that a program adds do not matter.
  addFiles(same.folder, { "output.log": "" });
  expect((await written(store, { "a.ts": "one", "b.ts": "b" })).folder).toBe(same.folder);
});

test("a tree shares the modules that have not changed with the earlier one, and no file that a program may write to", async () => {
  const { store } = newStore();
  const files = { "a.ts": "a", "node_modules/b/data.json": "{}", "big.js": big, "state.json": "{}", "c.ts": "c" };
  const first = await written(store, files);
  writeFileSync(path.join(first.folder, "c.ts"), "C");
  const second = await written(store, { ...files, "d.ts": "a" });
  const isShared = (name: string) =>
    lstatSync(path.join(first.folder, name)).ino === lstatSync(path.join(second.folder, name)).ino;
  expect(Object.keys(files).map(isShared)).toEqual([true, true, true, false, false]);
  // A module that was edited, one that has another mode, and one that a program has written to, are not shared.
  chmodSync(path.join(second.folder, "a.ts"), 0o600);
  const third = await written(store, { ...files, "big.js": `${big}!`, "d.ts": "a" });
  expect(contentOf(third.folder)).toEqual(contentOf(folderWith({ ...files, "big.js": `${big}!`, "d.ts": "a" })));
  appendFileSync(path.join(third.folder, "state.json"), "1");
  appendFileSync(path.join(first.folder, "state.json"), "2");
  expect(readFileSync(path.join(second.folder, "state.json"), "utf8")).toBe("{}");
});

test("a store that is opened again shares files with the tree that was used last", async () => {
  const { store, folder } = newStore();
  const first = await written(store, { "a.ts": "a", "b.ts": "b" });
  const second = await written(new CodeStoreFiles(folder), { "a.ts": "a", "b.ts": "changed" });
  const inodes = [first, second].map((tree) => lstatSync(path.join(tree.folder, "a.ts")).ino);
  expect(inodes[0]).toBe(inodes[1]);
  expect(readFileSync(path.join(first.folder, "b.ts"), "utf8")).toBe("b");
});

test("a blob is lost when a program writes into the file of the tree that has used it first, and stored again", async () => {
  const { store, folder } = newStore();
  const first = await written(store, { "state.json": "{}" });
  const digest = digestOf(Buffer.from("{}"));
  expect(store.blobs.has(digest)).toBe(true);
  appendFileSync(path.join(first.folder, "state.json"), "1");
  expect(store.blobs.has(digest)).toBe(false);
  expect(contentOf((await written(store, { "state.json": "{}", "a.ts": "a" })).folder)).toEqual({
    "a.ts": "644 a",
    "state.json": "644 {}",
  });
  // Its tree has been removed, and another one is the next to use the blob.
  rmSync(first.folder, { recursive: true });
  expect(new CodeStoreFiles(folder).blobs.has(digest)).toBe(true);
});

test("a file that changes between the scan and the store is an error that names it", async () => {
  const root = folderWith({ "a.ts": "a", "gone.ts": "g" });
  const found = await scan({ roots: [root] });
  const { store } = newStore();
  const message = (name: string) =>
    `cannot sync ${root}/${name}: it has changed since it was scanned; sync again, or exclude it if a program writes it`;
  writeFileSync(path.join(root, "a.ts"), "b");
  expect(await rejection(ingest(found, store))).toMatchObject({ code: "changed", message: message("a.ts") });
  writeFileSync(path.join(root, "a.ts"), "a");
  rmSync(path.join(root, "gone.ts"));
  expect(await rejection(ingest(found, store))).toMatchObject({ code: "changed", message: message("gone.ts") });
});

test("the blobs that came last are served from memory, which is bounded and can be freed", async () => {
  const { store, folder } = newStore();
  const blobs = Array.from({ length: 9 }, (_, i) => Buffer.alloc(2 ** 20, i));
  const digests = blobs.map(digestOf);
  for (const [i, blob] of blobs.entries()) store.blobs.put(digests[i]!, blob);
  rmSync(path.join(folder, "blobs"), { recursive: true });
  expect(digests.map((digest) => store.blobs.get(digest) !== undefined)).toEqual([false, ...Array(8).fill(true)]);
  store.blobs.forgetRecent();
  expect(digests.filter((digest) => store.blobs.get(digest) !== undefined)).toEqual([]);
});

test("a blob is refused if its bytes are others, and a damaged one is removed instead of used", async () => {
  const { store, folder } = newStore();
  const [good, bad] = [Buffer.from("good"), Buffer.from("bad")];
  expect(() => store.blobs.put(digestOf(good), bad)).toThrow(
    `cannot store blob ${digestOf(good).slice(0, 12)}: its bytes have the digest ${digestOf(bad).slice(0, 12)}`,
  );
  expect(store.blobs.has(digestOf(good))).toBe(false);
  const { manifest } = await stored(store, { "a.ts": "good" });
  chmodSync(blobFile(folder, digestOf(good)), 0o600);
  writeFileSync(blobFile(folder, digestOf(good)), "");
  const error = await rejection(store.write(manifest.id, store.manifest(manifest.id, manifest.address)!));
  expect(error).toMatchObject({ code: "blob-missing", path: "a.ts", digest: digestOf(good) });
  expect(error.message).toBe(`cannot write a.ts: the store lacks its blob ${digestOf(good).slice(0, 12)}`);
  expect(store.blobs.has(digestOf(good))).toBe(false);
  expect(readdirSync(path.join(folder, "trees"))).toEqual([]);
  expect(readdirSync(path.join(folder, "temporary"))).toEqual([]);
});

test("a damaged manifest is made again of its chunks", async () => {
  const { store, folder } = newStore();
  const { manifest } = await stored(store, { "a.ts": "a" });
  writeFileSync(path.join(folder, "manifests", manifest.id), "damaged");
  expect(store.manifest(manifest.id, manifest.address)?.entries).toHaveLength(1);
  expect(readFileSync(path.join(folder, "manifests", manifest.id)).equals(manifest.bytes)).toBe(true);
  expect(
    store.manifest(digestOf(Buffer.from("x")), { ...manifest.address, digests: new Uint8Array(32), sizes: [1] }),
  ).toBeUndefined();
});

test("a name leads from one tree to another at once, and to nothing outside of the store", async () => {
  const { store, folder } = newStore();
  const [one, two] = [await written(store, { "a.ts": "one" }), await written(store, { "a.ts": "two" })];
  for (const { folder: tree } of [one, two, one]) {
    const current = store.activate("job-1", tree);
    expect(realpathSync(current)).toBe(tree);
  }
  expect(readdirSync(path.join(folder, "current"))).toEqual(["job-1"]);
  for (const name of ["../x", "", ".", "..", "a/b", "a".repeat(101)]) {
    expect(() => store.activate(name, one.folder)).toThrow(
      `cannot activate a tree: expected a name of at most 100 letters, digits, "_", "-" and ".", got ${JSON.stringify(name)}`,
    );
  }
});

test("a quota removes the trees that were not used for the longest time, and none that is current or in use", async () => {
  const { store, folder } = newStore(1_000_000);
  const content = (seed: number) => Buffer.alloc(100_000, String(seed));
  const current = await written(store, { "a.bin": content(1) });
  store.activate("job", current.folder);
  const used = await written(store, { "a.bin": content(2) });
  const use = store.use(used.id);
  const idle = await written(store, { "a.bin": content(3) });
  // The mark of a process that has ended counts for nothing.
  writeFileSync(path.join(folder, "uses", `${idle.id}@4000000.1.${thisOwner().split(".")[2]}.0`), "");
  store.collect(450_000);
  expect(readdirSync(path.join(folder, "trees")).sort()).toEqual([current.id, used.id].sort());
  expect(readdirSync(path.join(folder, "uses"))).toHaveLength(1);
  expect(store.blobs.has(digestOf(content(3)))).toBe(false);
  store.collect(0);
  expect(readdirSync(path.join(folder, "trees")).sort()).toEqual([current.id, used.id].sort());
  expect(store.blobs.has(digestOf(content(2)))).toBe(true);
  use.end();
  store.deactivate("job");
  store.collect(0);
  expect(readdirSync(path.join(folder, "trees"))).toEqual([]);
  expect(readdirSync(path.join(folder, "manifests"))).toEqual([]);
});

test("what a program has done to the tree before is found when the next one is written, and then fetched", async () => {
  const { store } = newStore();
  const before = await written(store, { "a.js": Buffer.from("one"), "b.js": Buffer.from("two") });
  const { store: other } = newStore();
  const found = await stored(other, { "a.js": "one", "b.js": "three" });
  const manifest = other.manifest(found.manifest.id, found.manifest.address)!;
  const chunks = chunksOfManifest(manifest);
  const [one, three] = [digestOf(Buffer.from("one")), digestOf(Buffer.from("three"))];
  writeFileSync(path.join(before.folder, "a.js"), "uno");
  expect([...store.missingBesideLatest(chunks).keys()]).toEqual([three]);
  store.blobs.put(three, other.blobs.get(three)!);
  const error = await rejection(store.write(found.manifest.id, manifest));
  expect(error).toMatchObject({ code: "blob-missing", path: "a.js", digest: one });
  expect([...store.missing(chunks).keys()]).toEqual([one]);
  store.blobs.put(one, other.blobs.get(one)!);
  expect(contentOf(await store.write(found.manifest.id, manifest))).toEqual({ "a.js": "644 one", "b.js": "644 three" });
});

test("room is made for a tree, and one that does not fit beside what is in use is refused", async () => {
  const { store, folder } = newStore(500_000);
  const room = async (files: Record<string, Buffer>) => {
    const { manifest } = await scan({ roots: [folderWith(files)] });
    const entries = (await scan({ roots: [folderWith(files)] })).entries;
    const tree = { format: 1, entries: [...entries] };
    store.makeRoom(manifest.id, tree, store.missing(chunksOfManifest(tree)));
  };
  const idle = await written(store, { "a.bin": Buffer.alloc(100_000, "1") });
  await room({ "b.bin": Buffer.alloc(200_000, "2") });
  expect(readdirSync(path.join(folder, "trees"))).toEqual([]);
  const use = store.use((await written(store, { "c.bin": Buffer.alloc(100_000, "3") })).id);
  expect(idle.id).toBeDefined();
  const error = await rejection(room({ "d.bin": Buffer.alloc(200_000, "4") }));
  expect(error).toMatchObject({ code: "store-failed" });
  expect(error.message).toMatch(
    /^cannot store tree [0-9a-f]{12}: it needs 390\.6 KiB, and 195\.\d KiB of the quota of 488\.3 KiB are in use; end programs that use older trees, or raise the quota, got /,
  );
  use.end();
  await room({ "d.bin": Buffer.alloc(200_000, "4") });
});

test("a store that others could have written is refused", () => {
  const folder = folderWith({});
  chmodSync(folder, 0o777);
  expect(() => new CodeStoreFiles(folder)).toThrow(
    `cannot open the store on ${hostname()}: it is not a folder that only this user can write; remove it, or choose another one, got ${folder}`,
  );
});

test.runIf(process.getuid?.() === 0)("a full disk is an error of this host, and leaves nothing half", async () => {
  const disk = folderWith({});
  expect(spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", disk]).status).toBe(0);
  try {
    const folder = path.join(disk, "store");
    const store = new CodeStoreFiles(folder);
    const small = await written(store, { "a.ts": "a" });
    const why = `on ${hostname()}: the disk is full (ENOSPC); free some space, or set XDG_CACHE_HOME to a folder on another disk, got ${folder}`;
    const error = await rejection(written(store, { "big.bin": Buffer.alloc(2_000_000, "x"), "more.bin": big }));
    expect(error).toMatchObject({ code: "store-failed", message: `cannot store a blob ${why}` });
    const half = await rejection(
      written(store, { "half.bin": big.subarray(0, 260_000), "other.bin": big.subarray(260_000, 500_000) }),
    );
    expect(half.message).toMatch(/^cannot (write tree [0-9a-f]{12}|store a blob) on /);
    expect(readdirSync(path.join(folder, "temporary"))).toEqual([]);
    expect(readdirSync(path.join(folder, "trees"))).toEqual([small.id]);
    store.collect(0);
    expect(contentOf((await written(store, { "a.ts": "a" })).folder)).toEqual({ "a.ts": "644 a" });
  } finally {
    spawnSync("umount", [disk]);
  }
});
