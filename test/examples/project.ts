/** Makes projects as a user has them: with Viceroy installed, and with `npx` to run what is installed. */
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "./program.js";

/** Leaves behind in `folder` what `npm install` would leave there. */
export function installInto(folder: string): void {
  const modules = path.join(folder, "node_modules");
  mkdirSync(path.join(modules, ".bin"), { recursive: true });
  symlinkSync(root, path.join(modules, "viceroy"));
  for (const name of ["tsx", "typescript", "@types"]) {
    symlinkSync(path.join(root, "node_modules", name), path.join(modules, name));
  }
  symlinkSync(path.join(root, "dist/cli/viceroy.js"), path.join(modules, ".bin/viceroy"));
  for (const name of ["tsx", "tsc"]) {
    symlinkSync(path.join(root, "node_modules/.bin", name), path.join(modules, ".bin", name));
  }
}

/**
 * Installs further packages, buf, esbuild, Vitest, and an `npx` that runs what is installed without starting npm, which takes longer than most
 * programs.
 *
 * @returns the environment in which commands find them
 */
export function withQuickNpx(folder: string, packages: readonly string[]): Record<string, string> {
  const modules = path.join(folder, "node_modules");
  for (const name of packages) symlinkSync(path.join(root, "node_modules", name), path.join(modules, name));
  for (const name of ["buf", "esbuild", "vitest"]) {
    symlinkSync(path.join(root, "node_modules/.bin", name), path.join(modules, ".bin", name));
  }
  const npx = path.join(modules, ".bin/npx");
  writeFileSync(npx, '#!/bin/sh\nexec "$@"\n');
  chmodSync(npx, 0o755);
  return { PATH: `${path.join(modules, ".bin")}${path.delimiter}${process.env["PATH"]}` };
}

/** Installs bundlers; `withQuickNpx` installs the command of esbuild. Those of `.ci/bundlers` are left out where they are not installed. */
export function installBundlers(folder: string): void {
  const modules = path.join(folder, "node_modules");
  const add = (from: string, names: readonly string[], bins: readonly string[]) => {
    for (const name of names) {
      if (existsSync(path.join(from, name))) symlinkSync(path.join(from, name), path.join(modules, name));
    }
    for (const bin of bins) {
      const file = path.join(from, ".bin", bin);
      if (existsSync(file)) symlinkSync(file, path.join(modules, ".bin", bin));
    }
  };
  add(path.join(root, "node_modules"), ["esbuild", "rollup", "vite"], ["rollup", "vite"]);
  add(path.join(root, ".ci/bundlers/node_modules"), ["esbuild-loader", "webpack", "webpack-cli"], ["webpack"]);
}

export function write(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}
