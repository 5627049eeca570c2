/** The files that the compiler reads from its own package, or from the checkout: its pages and its schema vocabulary. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const names: readonly unknown[] = ["viceroy", "@viceroy/compiler"];
let known: string | undefined;

/** Returns the absolute path of the folder of package.json. */
export function packageRoot(): string {
  known ??= findPackage(path.dirname(fileURLToPath(import.meta.url)));
  return known;
}

/** Searches upwards from this file, which is in `compiler/` of a checkout, or bundled in the package of the compiler. */
function findPackage(folder: string): string {
  const file = path.join(folder, "package.json");
  if (existsSync(file)) {
    const { name } = JSON.parse(readFileSync(file, "utf8")) as { readonly name?: unknown };
    if (names.includes(name)) return folder;
  }
  const parent = path.dirname(folder);
  if (parent === folder) throw new Error("cannot find Viceroy's own package.json: the installation is incomplete");
  return findPackage(parent);
}

/** Returns the text of `viceroy/schema`. The build copies the file into the package of the compiler. */
export function vocabularyText(): string {
  return readFileSync(path.join(packageRoot(), "shared/vocabulary.ts"), "utf8");
}
