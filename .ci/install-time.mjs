/**
 * Measures what installing costs: `node .ci/install-time.mjs [--rounds 5] [older.tgz]` installs the packed packages in new
 * folders, with npm's cache filled: the runtime, the full set, and an older package alone. It prints bytes, packages and
 * seconds, and the ratio of the full set to the older package in each round.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { root, told } from "./steps.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: "string", default: "5" } },
});
const work = mkdtempSync(path.join(tmpdir(), "viceroy-install-"));
try {
  await must(process.execPath, [path.join(root, ".ci/pack.mjs"), work, `${process.platform}-${process.arch}`], root);
  const tarballs = readdirSync(work).filter((name) => name.endsWith(".tgz"));
  const named = (pattern) => tarballs.filter((name) => pattern.test(name)).map((name) => path.join(work, name));
  const runtime = [...named(/^viceroy-\d/), ...named(/^viceroy-addon-/)];
  const sets = new Map([
    ["runtime", runtime],
    // Programs in TypeScript need the types of Node.js.
    ["full", [...runtime, ...named(/^viceroy-compiler-/), "@types/node@20"]],
    ...positionals.map((file) => ["older", [path.resolve(file)]]),
  ]);
  // The first installation of each set fills the cache.
  for (const set of sets.values()) await install(set);
  const samples = new Map([...sets.keys()].map((name) => [name, []]));
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const [name, set] of sets) samples.get(name).push(await install(set));
  }
  for (const [name, all] of samples) {
    const { bytes, packages } = all[0];
    const seconds = all.map((one) => one.seconds.toFixed(2)).join(" ");
    console.log(`${name}: ${(bytes / 1e6).toFixed(2)} MB, ${packages} packages; ${seconds} s`);
  }
  const older = samples.get("older");
  if (older !== undefined) {
    const ratios = samples.get("full").map((one, round) => one.seconds / older[round].seconds);
    ratios.sort((left, right) => left - right);
    const text = ratios.map((ratio) => ratio.toFixed(2)).join(" ");
    console.log(`full to older, per round: ${text}; median ${ratios[ratios.length >> 1].toFixed(2)}`);
  }
} finally {
  rmSync(work, { recursive: true });
}

/** Installs packages in a new folder. */
async function install(packages) {
  const folder = mkdtempSync(path.join(work, "app-"));
  writeFileSync(path.join(folder, "package.json"), '{ "name": "app", "private": true }\n');
  const begin = performance.now();
  await must("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", ...packages], folder);
  const seconds = (performance.now() - begin) / 1000;
  const modules = path.join(folder, "node_modules");
  const files = readdirSync(modules, { recursive: true }).map((name) => statSync(path.join(modules, name)));
  const bytes = files.filter((file) => file.isFile()).reduce((sum, file) => sum + file.size, 0);
  const lock = JSON.parse(readFileSync(path.join(modules, ".package-lock.json"), "utf8"));
  rmSync(folder, { recursive: true });
  return { seconds, bytes, packages: Object.keys(lock.packages).length };
}

async function must(command, args, cwd) {
  const { code, text } = await told(command, args, { cwd });
  if (code !== 0) throw new Error(`cannot measure: ${command} ${args.join(" ")} ended with code ${code}\n${text}`);
}
