/**
 * Provides what the compiler of an addon reads: the addon's sources, and the headers of Node-API with their C++ classes.
 * In a checkout, these are files. The package has them in one compressed file, an eighth of their size, because most
 * installations never build an addon.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync } from "node:zlib";
import { type AddonName, isBuilt, locateAddon } from "./addon-location.js";

export interface BuildSources {
  /** The folder to which the sources' own `#include` directives are relative. */
  readonly folder: string;
  /** The absolute paths of the files to compile, sorted. */
  readonly files: readonly string[];
  /** The folders of headers of Node-API. */
  readonly includes: readonly string[];
}

/** @param work an empty folder, for the files of the package */
export function provideSources(name: AddonName, work: string): BuildSources {
  if (!isBuilt) {
    const { sources, files } = locateAddon(name);
    const require = createRequire(import.meta.url);
    const { include_dir: headers } = require("node-api-headers") as { readonly include_dir: string };
    return {
      folder: sources,
      files,
      includes: [path.dirname(require.resolve("node-addon-api/package.json")), headers],
    };
  }
  const folder = path.join(work, name);
  const files = unpack(fileURLToPath(new URL("../native/sources.br", import.meta.url)), work);
  const isOfAddon = (file: string) => file.startsWith(folder + path.sep) && file.endsWith(".cc");
  return { folder, files: files.filter(isOfAddon).sort(), includes: [path.join(work, "include")] };
}

/** Writes the files of an archive, an object in JSON with the texts by path. @returns the paths of the files */
function unpack(archive: string, folder: string): string[] {
  const texts = JSON.parse(brotliDecompressSync(readFileSync(archive)).toString()) as Readonly<Record<string, string>>;
  return Object.entries(texts).map(([name, text]) => {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  });
}
