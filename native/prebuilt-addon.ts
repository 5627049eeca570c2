/**
 * Finds the addon `rdma` in an optional package, so that a machine needs no C++ compiler. npm installs the package that
 * fits the operating system, the processor and the C library. The tensor addon is always built on the machine, because it
 * is linked to the installed libtorch.
 */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import process from "node:process";
import { type AddonName, addonFileName } from "./addon-location.js";
import { usesMusl } from "./c-library.js";

/** The platforms with a package. All packages are for glibc. */
export const prebuiltPlatforms: readonly string[] = ["linux-x64", "linux-arm64"];

/** The result of a search: the file, or the reason why a package cannot be used; undefined if there is no package. */
export type PrebuiltAddon = { readonly file: string } | { readonly why: string } | undefined;

/** Returns the name of the package for this platform, or undefined if none is published. */
export function prebuiltPackage(): string | undefined {
  return isPrebuiltPlatform() && !usesMusl() ? packageOf(`${process.platform}-${process.arch}`) : undefined;
}

function isPrebuiltPlatform(): boolean {
  return prebuiltPlatforms.includes(`${process.platform}-${process.arch}`);
}

/** @param platform the operating system and the processor: `linux-x64` */
export function packageOf(platform: string): string {
  return `@viceroy/addon-${platform}-gnu`;
}

/** @param from the file from whose folder the package is searched */
export function findPrebuiltAddon(name: AddonName, from: string): PrebuiltAddon {
  if (name !== "rdma" || !isPrebuiltPlatform()) return undefined;
  const wanted = prebuiltPackage();
  if (wanted === undefined) return { why: "the packages that contain it are for glibc, and this Node.js uses musl" };
  let manifest: string;
  try {
    manifest = createRequire(from).resolve(`${wanted}/package.json`);
  } catch {
    // Optional packages can be left out: npm install --omit=optional.
    return undefined;
  }
  const file = path.join(path.dirname(manifest), addonFileName(name));
  if (existsSync(file)) return { file };
  const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { readonly version: string };
  return { why: `${wanted} ${version} in ${path.dirname(manifest)} was built from the sources of another version` };
}
