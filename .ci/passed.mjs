/**
 * Remembers with which files slow checks have passed: .ci/passed.json has a digest of the files of each check. `verify` leaves a check out while
 * none of its files has changed, but for comments. `verify:full` runs all of them, and records what has passed.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "./steps.mjs";

const record = path.join(root, ".ci/passed.json");

/**
 * Runs a check, or leaves it out: with the argument `--unless-passed` if it has passed with the same files. With `--record`, what passes is recorded.
 *
 * @param {string} name of the check
 * @param {readonly string[]} places the files and folders that decide its result, relative to the checkout
 * @param {() => Promise<number | undefined>} check returns an exit code, or undefined if this system cannot run the check, which is no failure
 */
export async function unlessPassed(name, places, check) {
  if (await isLeftOut(name, places)) {
    console.log(`left out: ${name} has passed with these files (.ci/passed.json); npm run verify:full runs it`);
    return 0;
  }
  const digest = await digestOf(places);
  const code = await check();
  if (code === 0 && digest !== undefined && process.argv.includes("--record")) {
    const all = { ...JSON.parse(readFileSync(record, "utf8")), [name]: digest };
    const sorted = Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));
    writeFileSync(record, `${JSON.stringify(sorted, undefined, 2)}\n`);
  }
  return code ?? 0;
}

/** Returns whether `unlessPassed` leaves a check out. What only this check needs is not prepared then. */
export async function isLeftOut(name, places) {
  if (!process.argv.includes("--unless-passed")) return false;
  const digest = await digestOf(places);
  return digest !== undefined && JSON.parse(readFileSync(record, "utf8"))[name] === digest;
}

/**
 * Returns undefined outside of a git checkout, where it is not known which files belong to the sources. Comments and the layout of scripts do not
 * count, because they do not change what the scripts do.
 */
async function digestOf(places) {
  const { status, stdout } = spawnSync("git", ["ls-files", "-z", "--", ...places], { cwd: root, encoding: "utf8" });
  if (status !== 0) return undefined;
  // `verify` imports this file before it installs packages.
  const { transformSync } = await import("esbuild");
  const meaningOf = (file, content) => {
    const loader = { ".ts": "ts", ".mjs": "js", ".js": "js" }[path.extname(file)];
    if (loader === undefined) return content;
    return transformSync(content, { loader, minifyWhitespace: true, legalComments: "none" }).code;
  };
  const hash = createHash("sha256");
  for (const file of stdout.split("\0").filter((name) => name !== "")) {
    const content = meaningOf(file, readFileSync(path.join(root, file)));
    hash.update(`${file}\0${createHash("sha256").update(content).digest("hex")}\n`);
  }
  return hash.digest("hex");
}
