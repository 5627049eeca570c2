/**
 * Remembers with which files slow checks have passed: .ci/passed.json has a digest of the files of each check. `verify` leaves a check out while
 * none of its files has changed. `verify:full` runs all of them, and records what has passed.
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
 * @param {() => Promise<number>} check returns an exit code
 */
export async function unlessPassed(name, places, check) {
  const digest = digestOf(places);
  const known = JSON.parse(readFileSync(record, "utf8"));
  if (process.argv.includes("--unless-passed") && digest !== undefined && known[name] === digest) {
    console.log(`left out: ${name} has passed with these files (.ci/passed.json); npm run verify:full runs it`);
    return 0;
  }
  const code = await check();
  if (code === 0 && digest !== undefined && process.argv.includes("--record")) {
    const all = { ...JSON.parse(readFileSync(record, "utf8")), [name]: digest };
    writeFileSync(record, `${JSON.stringify(all, undefined, 2)}\n`);
  }
  return code;
}

/** Returns undefined outside of a git checkout, where it is not known which files belong to the sources. */
function digestOf(places) {
  const { status, stdout } = spawnSync("git", ["ls-files", "-z", "--", ...places], { cwd: root, encoding: "utf8" });
  if (status !== 0) return undefined;
  const hash = createHash("sha256");
  for (const file of stdout.split("\0").filter((name) => name !== "")) {
    const content = readFileSync(path.join(root, file));
    hash.update(`${file}\0${createHash("sha256").update(content).digest("hex")}\n`);
  }
  return hash.digest("hex");
}
