/**
 * Resolves relative imports by TypeScript's rules for ES modules: `./a.js` is `a.ts`, `a.tsx` or `a.js`, and a
 * specifier without extension can also be the index of a folder. Paths are relative to the folder of the config, with
 * forward slashes.
 */
import path from "node:path/posix";

const sourceExtensions: Readonly<Record<string, readonly string[]>> = {
  ".js": [".ts", ".tsx", ".js", ".jsx", ".d.ts"],
  ".jsx": [".tsx", ".jsx"],
  ".mjs": [".mts", ".mjs", ".d.mts"],
  ".cjs": [".cts", ".cjs"],
};

/**
 * Returns the files to which `specifier` in `importer` can resolve, the most likely first. Returns none if it is not
 * relative.
 */
export function importCandidates(importer: string, specifier: string): readonly string[] {
  if (!/^\.\.?(\/|$)/.test(specifier)) return [];
  const target = path.join(path.dirname(importer), specifier);
  const extension = path.extname(target);
  const sources = sourceExtensions[extension];
  if (sources !== undefined) {
    const stem = target.slice(0, -extension.length);
    return sources.map((source) => stem + source);
  }
  if (/^\.[cm]?tsx?$/.test(extension)) return [target];
  return [".ts", ".tsx", ".mts", ".js", "/index.ts", "/index.tsx", "/index.js"].map((end) => target + end);
}
