/**
 * Scans an unchanged tree of 4,000 files again, in pairs with what no scan can do without: the listing of git, and the properties of each
 * file. Run it with `node --import tsx bench/sync/scan.ts [pairs]`.
 */
import { spawnSync } from "node:child_process";
import { lstatSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { scan } from "../../runtime/sync/scan/scan.js";

const FILES = 4_000;
const pairs = Number(process.argv[2] ?? 30);
const root = mkdtempSync(path.join(tmpdir(), "scan-"));
const memory = path.join(root, ".viceroy/sync");
for (let i = 0; i < FILES; i++) {
  const folder = path.join(root, `package-${i % 20}/part-${i % 200}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, `module-${i}.ts`), `export const value = ${i};\n`.repeat(100));
}
const git = (...args: string[]) => spawnSync("git", args, { cwd: root, maxBuffer: 2 ** 28 }).stdout.toString();
git("init", "-q");
git("add", ".");
// Files that changed in the last two seconds are read again.
await new Promise((resolve) => setTimeout(resolve, 2_500));
await scan({ roots: [root], memory });

const median = (times: number[]) => [...times].sort((left, right) => left - right)[times.length >> 1] ?? Number.NaN;
const scans: number[] = [];
const listings: number[] = [];
const properties: number[] = [];
for (let pair = 0; pair < pairs; pair++) {
  let start = performance.now();
  const { filesRead, entries } = await scan({ roots: [root], memory });
  scans.push(performance.now() - start);
  if (filesRead > 0 || entries.length !== FILES) throw new Error(`read ${filesRead} of ${entries.length} files again`);
  start = performance.now();
  const names = git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0").slice(0, -1);
  listings.push(performance.now() - start);
  start = performance.now();
  for (const name of names) lstatSync(`${root}/${name}`);
  properties.push(performance.now() - start);
}
rmSync(root, { recursive: true });
const show = (times: number[]) => `${median(times).toFixed(1)} ms`;
console.log(
  `unchanged scan ${show(scans)}; git alone ${show(listings)}; lstat of ${FILES} files alone ${show(properties)}`,
);
