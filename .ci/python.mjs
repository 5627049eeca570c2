/**
 * A python3 with the library whose format our files of tensors have, to read each other's: half a megabyte, by pip, into
 * `.peers/python/`. Part of `npm run peers`, and so of `verify`. Plain Node.js without any package.
 *
 * Not every machine has a python3 with pip. Without it that one test is left out, also of `verify`: the format is compared with bytes that are
 * written by hand as well.
 */
import { existsSync, rmSync } from "node:fs";
import path from "node:path";
import { output } from "./debian.mjs";
import { root } from "./steps.mjs";

const folder = path.join(root, ".peers/python");
export const pythonPackage = "safetensors==0.8.0";

export function hasPython() {
  return existsSync(path.join(folder, "safetensors"));
}

/** Puts it there. It is said why it cannot be. */
export function preparePython() {
  if (hasPython()) return;
  const options = ["--quiet", "--no-deps", "--disable-pip-version-check", "--retries=0", "--timeout=10"];
  const { code, text } = output("python3", ["-m", "pip", "install", ...options, `--target=${folder}`, pythonPackage]);
  if (code === 0) return;
  rmSync(folder, { recursive: true, force: true });
  console.log(`skipped: tests that need Python's ${pythonPackage} (${text.trimEnd().split("\n").at(-1)})`);
}
