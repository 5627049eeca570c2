/**
 * Where a built addon is: what builds it and what loads it both ask here. In a folder of this user, under a name that changes with the
 * version, the sources and the machine, so that an addon is never used with a Viceroy that it was not built from. Addons use
 * Node-API, so one of them serves every version of Node.js.
 */
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { sourceKey } from "./source-key.js";

/** Replaced by the build with the keys of the addons' sources, by their names, in JSON; what runs unbuilt reads the sources. */
declare const VICEROY_ADDON_KEYS: string | undefined;

/** Addons that Viceroy has, by the name of their folder beside this file. */
export type AddonName = "rdma" | "tensor";

export interface AddonLocation {
  /** The folder of its sources. */
  readonly sources: string;
  /** Files with code, sorted; absolute. */
  readonly files: readonly string[];
  /** Where it is once it is built; absolute. */
  readonly file: string;
}

/**
 * Names the file that is used instead, for who builds it in another way; `off`: none is used.
 * For `rdma`: `VICEROY_RDMA_ADDON`; for `tensor`: `VICEROY_TENSOR_ADDON`.
 */
export function addonVariable(name: AddonName): string {
  return `VICEROY_${name.toUpperCase()}_ADDON`;
}

/** @throws Error when the sources are not part of this installation */
export function locateAddon(name: AddonName): AddonLocation {
  const sources = sourcesOf(name);
  const files = readdirSync(sources)
    .filter((file) => file.endsWith(".cc"))
    .sort()
    .map((file) => path.join(sources, file));
  return { sources, files, file: addonFile(name) };
}

/** Where an addon is once it is built; absolute. Every process that starts asks: of what was built, nothing is read. */
export function addonFile(name: AddonName): string {
  const key =
    typeof VICEROY_ADDON_KEYS === "string"
      ? (JSON.parse(VICEROY_ADDON_KEYS) as Readonly<Record<AddonName, string>>)[name]
      : sourceKey(packageRoot().version, sourcesOf(name));
  return path.join(cacheFolder(), `viceroy-${name}-${key}-${process.platform}-${process.arch}.node`);
}

function sourcesOf(name: AddonName): string {
  return path.join(packageRoot().root, "native", name);
}

/** Whether nobody but this user, or root, could have written a file that is going to be run. */
export function isTrusted(file: string): boolean {
  if (process.getuid === undefined) return true;
  const own = process.getuid();
  return [file, path.dirname(file)].every((entry) => {
    const { uid, mode } = lstatSync(entry);
    return (uid === own || uid === 0) && (mode & 0o022) === 0;
  });
}

/** The folder of the package: this file is in it, in `native/` as a source or in `dist/` when built. */
function packageRoot(): { readonly root: string; readonly version: string } {
  for (let folder = path.dirname(fileURLToPath(import.meta.url)); ; folder = path.dirname(folder)) {
    try {
      const text = readFileSync(path.join(folder, "package.json"), "utf8");
      const { name, version } = JSON.parse(text) as { name?: unknown; version?: unknown };
      if (name === "viceroy") return { root: folder, version: String(version) };
    } catch {
      // There is none here.
    }
    if (folder === path.dirname(folder)) throw new Error("cannot find the package viceroy above its own code");
  }
}

/** Not the folder of V8's code caches, which removes what is old. */
function cacheFolder(): string {
  const base = process.env["XDG_CACHE_HOME"] ?? "";
  if (path.isAbsolute(base)) return path.join(base, "viceroy-addons");
  try {
    const home = homedir();
    if (path.isAbsolute(home)) return path.join(home, ".cache", "viceroy-addons");
  } catch {
    // A user that the system does not know: a container that runs under any number.
  }
  return path.join(tmpdir(), `viceroy-addons-${process.getuid?.() ?? ""}`);
}
