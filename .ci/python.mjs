/**
 * Installs a Python library with the same file format as Viceroy's tensor files, half a megabyte, with pip into
 * `.peers/python/`. A test reads the files of each library with the other. It is part of `npm run peers` and therefore
 * of `verify`. The script uses Node.js only, without any package.
 *
 * Some machines have no python3 with pip. Then `verify` skips that test, too. Another test compares the format with
 * bytes that are written by hand.
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

/** Installs the library, or prints why it cannot be installed. */
export function preparePython() {
  if (hasPython()) return;
  const options = ["--quiet", "--no-deps", "--disable-pip-version-check", "--retries=0", "--timeout=10"];
  const { code, text } = output("python3", ["-m", "pip", "install", ...options, `--target=${folder}`, pythonPackage]);
  if (code === 0) return;
  rmSync(folder, { recursive: true, force: true });
  console.log(`skipped: tests that need Python's ${pythonPackage} (${text.trimEnd().split("\n").at(-1)})`);
}
