/**
 * Locates built addons, for the build and for the loader. Addons are in a folder of the current user. Their names
 * change with the version, the sources and the machine, so that an addon is never used with a Viceroy from which it was
 * not built. Addons use Node-API, so one addon works with every version of Node.js, except for `stack`, which uses V8.
 */
import { lstatSync, readFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { sourceFiles, sourceKey } from "./source-key.js";

/**
 * The keys of the addons' sources by name, as JSON. The build defines this constant. Unbuilt code computes the keys
 * from the sources.
 */
declare const VICEROY_ADDON_KEYS: string | undefined;

/** The addons of Viceroy, by the name of their folder beside this file. */
export type AddonName = "rdma" | "stack" | "tensor";

export interface AddonLocation {
  /** The folder of the sources. */
  readonly sources: string;
  /** The absolute paths of the source files, sorted. */
  readonly files: readonly string[];
  /** The absolute path of the built addon. */
  readonly file: string;
}

/**
 * Returns the name of the environment variable that contains the path of another addon file to use, or `off` to use
 * none: `VICEROY_RDMA_ADDON` for `rdma`, `VICEROY_TENSOR_ADDON` for `tensor`, `VICEROY_STACK_ADDON` for `stack`.
 */
export function addonVariable(name: AddonName): string {
  return `VICEROY_${name.toUpperCase()}_ADDON`;
}

/** Whether this code was built, so that it is in the package and knows the keys of its sources. */
export const isBuilt = typeof VICEROY_ADDON_KEYS === "string";

/** @throws Error if this is no checkout, which alone has the sources as files */
export function locateAddon(name: AddonName): AddonLocation {
  const sources = sourcesOf(name);
  const files = sourceFiles(sources, [".cc"]).map((file) => path.join(sources, file));
  return { sources, files, file: addonFile(name) };
}

/**
 * Returns the absolute path of the built addon. Every process calls this function at its start, so built code reads no
 * sources.
 */
export function addonFile(name: AddonName): string {
  return path.join(cacheFolder(), addonFileName(name));
}

/**
 * Returns the name of the file of an addon, which contains the key of the sources and the platform, and for `stack` the
 * version of the binary interface of Node.js.
 * @param platform the operating system and the processor
 */
export function addonFileName(name: AddonName, platform = `${process.platform}-${process.arch}`): string {
  const key =
    typeof VICEROY_ADDON_KEYS === "string"
      ? (JSON.parse(VICEROY_ADDON_KEYS) as Readonly<Record<AddonName, string>>)[name]
      : sourceKey(packageRoot().version, sourcesOf(name));
  const node = name === "stack" ? `-node${process.versions.modules}` : "";
  return `viceroy-${name}-${key}-${platform}${node}.node`;
}

function sourcesOf(name: AddonName): string {
  return path.join(packageRoot().root, "native", name);
}

/** Returns whether only this user or root can have written a file that is going to be executed. */
export function isTrusted(file: string): boolean {
  if (process.getuid === undefined) return true;
  const own = process.getuid();
  return [file, path.dirname(file)].every((entry) => {
    const { uid, mode } = lstatSync(entry);
    return (uid === own || uid === 0) && (mode & 0o022) === 0;
  });
}

/** Returns the folder with the sources of addons, the checkout, and the version of Viceroy. */
function packageRoot(): { readonly root: string; readonly version: string } {
  for (let folder = path.dirname(fileURLToPath(import.meta.url)); ; folder = path.dirname(folder)) {
    try {
      const text = readFileSync(path.join(folder, "package.json"), "utf8");
      const { name, version } = JSON.parse(text) as { name?: unknown; version?: unknown };
      if (name === "viceroy") return { root: folder, version: String(version) };
    } catch {
      // This folder has no package.json.
    }
    if (folder === path.dirname(folder))
      throw new Error("cannot find the sources of addons: no folder above this file is a checkout of viceroy");
  }
}

/** Returns the folder of addons. It differs from the folder of V8's code caches, from which old files are removed. */
function cacheFolder(): string {
  const base = process.env["XDG_CACHE_HOME"] ?? "";
  if (path.isAbsolute(base)) return path.join(base, "viceroy-addons");
  try {
    const home = homedir();
    if (path.isAbsolute(home)) return path.join(home, ".cache", "viceroy-addons");
  } catch {
    // The system does not know the user, as in a container with an arbitrary user id.
  }
  return path.join(tmpdir(), `viceroy-addons-${process.getuid?.() ?? ""}`);
}
