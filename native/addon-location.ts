/**
 * Locates built addons, for the code that builds them and for the code that loads them. A built addon is in a cache folder of this user. Its
 * file name contains a key of Viceroy's version and the addon's sources, the platform and the architecture, so that an addon is never used
 * with a Viceroy that it was not built from. Addons use Node-API, so one file works with every version of Node.js.
 */
import { lstatSync, readFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { sourceFiles, sourceKey } from "./source-key.js";

/** The keys of the addons' sources by the names of the addons, as JSON. The build defines this constant; code that runs unbuilt computes the keys. */
declare const VICEROY_ADDON_KEYS: string | undefined;

/** The addons of Viceroy. Each is named like the folder of its sources, which is next to this file. */
export type AddonName = "rdma" | "tensor";

export interface AddonLocation {
  /** The folder of the sources. */
  readonly sources: string;
  /** Absolute paths of the `.cc` files, sorted. */
  readonly files: readonly string[];
  /** Absolute path of the built addon. */
  readonly file: string;
}

/**
 * Returns the name of the environment variable that replaces a built addon: `VICEROY_RDMA_ADDON` or `VICEROY_TENSOR_ADDON`. Its value is the
 * path of an addon that was built in another way, or `off` to use none.
 */
export function addonVariable(name: AddonName): string {
  return `VICEROY_${name.toUpperCase()}_ADDON`;
}

/** @throws Error if this installation has no sources of the addon */
export function locateAddon(name: AddonName): AddonLocation {
  const sources = sourcesOf(name);
  const files = sourceFiles(sources, [".cc"]).map((file) => path.join(sources, file));
  return { sources, files, file: addonFile(name) };
}

/** Returns the absolute path of a built addon. Every process that starts calls this function, so the built Viceroy reads no file here. */
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

/** Returns whether only this user or root can write a file and its folder, so that the file is safe to load. */
export function isTrusted(file: string): boolean {
  if (process.getuid === undefined) return true;
  const own = process.getuid();
  return [file, path.dirname(file)].every((entry) => {
    const { uid, mode } = lstatSync(entry);
    return (uid === own || uid === 0) && (mode & 0o022) === 0;
  });
}

/** Returns the folder and the version of the package. This file is in its folder `native/` as a source, and in `dist/` when built. */
function packageRoot(): { readonly root: string; readonly version: string } {
  for (let folder = path.dirname(fileURLToPath(import.meta.url)); ; folder = path.dirname(folder)) {
    try {
      const text = readFileSync(path.join(folder, "package.json"), "utf8");
      const { name, version } = JSON.parse(text) as { name?: unknown; version?: unknown };
      if (name === "viceroy") return { root: folder, version: String(version) };
    } catch {
      // This folder has no package.json.
    }
    if (folder === path.dirname(folder)) throw new Error("cannot find the package viceroy above its own code");
  }
}

/** Returns the folder of built addons. It differs from the folder of V8's code caches, from which Viceroy removes old files. */
function cacheFolder(): string {
  const base = process.env["XDG_CACHE_HOME"] ?? "";
  if (path.isAbsolute(base)) return path.join(base, "viceroy-addons");
  try {
    const home = homedir();
    if (path.isAbsolute(home)) return path.join(home, ".cache", "viceroy-addons");
  } catch {
    // The system has no entry for this user, as in a container that runs under an arbitrary user id.
  }
  return path.join(tmpdir(), `viceroy-addons-${process.getuid?.() ?? ""}`);
}
