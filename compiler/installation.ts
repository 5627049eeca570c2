/** Viceroy's own installed package: its version and its schema vocabulary. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

interface OwnPackage {
  readonly root: string;
  readonly version: string;
}

let known: OwnPackage | undefined;

function ownPackage(): OwnPackage {
  known ??= findPackage(path.dirname(fileURLToPath(import.meta.url)));
  return known;
}

/** Searches upwards from this file, which is in `compiler/` or bundled in `dist/`. */
function findPackage(folder: string): OwnPackage {
  const file = path.join(folder, "package.json");
  if (existsSync(file)) {
    const { name, version } = JSON.parse(readFileSync(file, "utf8")) as { name?: string; version?: string };
    if (name === "viceroy" && version !== undefined) return { root: folder, version };
  }
  const parent = path.dirname(folder);
  if (parent === folder) throw new Error("cannot find Viceroy's own package.json: the installation is incomplete");
  return findPackage(parent);
}

export function viceroyVersion(): string {
  return ownPackage().version;
}

/** Returns the absolute path of the folder of Viceroy's package.json. */
export function packageRoot(): string {
  return ownPackage().root;
}

/** Returns the text of `viceroy/schema`, as a source file or a declaration file. */
export function vocabularyText(): string {
  const places = ["shared/vocabulary.ts", "dist/types/shared/vocabulary.d.ts"];
  const found = places.map((place) => path.join(packageRoot(), place)).find((file) => existsSync(file));
  if (found === undefined)
    throw new Error(`cannot read viceroy/schema: ${packageRoot()} lacks ${places.join(" and ")}`);
  return readFileSync(found, "utf8");
}
