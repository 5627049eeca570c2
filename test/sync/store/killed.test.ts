import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { beforeAll, expect, test } from "vitest";
import { CodeStoreFiles } from "../../../runtime/sync/store/code-store-files.js";
import { isIntact } from "../../../runtime/sync/store/write-tree.js";
import { digestOf } from "../../../runtime/sync/tree/digest.js";
import { decodeManifest } from "../../../runtime/sync/tree/manifest.js";
import { cases } from "../../profile.js";
import { withRandom } from "../../random.js";
import { folderWith } from "../folder.js";
import { contentOf, written } from "./trees.js";

let program: string;
beforeAll(async () => {
  program = path.join(folderWith({}), "busy-store.mjs");
  await build({
    entryPoints: [path.join(import.meta.dirname, "busy-store.ts")],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    define: { VICEROY_VERSION: '"0.0.0"' },
    alias: { "viceroy/codegen/v1": path.resolve(import.meta.dirname, "../../../runtime/codegen/v1/index.ts") },
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
});

function start(folder: string, seed: number, ...args: string[]): ChildProcess {
  return spawn(process.execPath, [program, folder, String(seed), ...args], { stdio: ["ignore", "pipe", "inherit"] });
}

/** Checks that a store contains nothing half, and can be used. */
async function checkStore(folder: string): Promise<void> {
  const store = new CodeStoreFiles(folder, 3_000_000);
  expect(readdirSync(path.join(folder, "temporary"))).toEqual([]);
  for (const prefix of readdirSync(path.join(folder, "blobs"))) {
    for (const digest of readdirSync(path.join(folder, "blobs", prefix))) {
      expect(digestOf(readFileSync(path.join(folder, "blobs", prefix, digest)))).toBe(digest);
    }
  }
  const manifestOf = (id: string) => decodeManifest(readFileSync(path.join(folder, "manifests", id)), id);
  for (const name of readdirSync(path.join(folder, "trees"))) {
    const id = name.slice(0, 64);
    // A tree without a manifest is left over from a removal.
    if (existsSync(path.join(folder, "manifests", id)))
      expect(await isIntact(path.join(folder, "trees", name), manifestOf(id))).toBe(true);
  }
  for (const name of readdirSync(path.join(folder, "current"))) realpathSync(path.join(folder, "current", name));
  store.collect(0);
  expect(readdirSync(path.join(folder, "uses"))).toEqual([]);
  const { folder: tree } = await written(store, { "a.ts": "a" });
  expect(contentOf(tree)).toEqual({ "a.ts": "644 a" });
}

test("a store is usable after its process was killed at any moment", async () => {
  await withRandom(async (random) => {
    const folder = path.join(folderWith({}), "store");
    for (let round = 0; round < cases(8, 100); round++) {
      const child = start(folder, random(1000));
      await once(child.stdout!, "data");
      await new Promise((resolve) => setTimeout(resolve, random(300)));
      child.kill("SIGKILL");
      await once(child, "close");
      await checkStore(folder);
    }
  });
});

test("several processes use a store at once", async () => {
  const folder = path.join(folderWith({}), "store");
  const children = [0, 3, 11].map((seed) => start(folder, seed, "once"));
  for (const { stdout } of children) stdout?.resume();
  const codes = await Promise.all(children.map(async (child) => (await once(child, "close"))[0]));
  expect(codes).toEqual([0, 0, 0]);
  await checkStore(folder);
});
