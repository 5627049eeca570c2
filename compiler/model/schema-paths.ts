/**
 * Computes the paths of generated files. The folders below the common root of the schema files are repeated in the
 * output folder.
 */

/**
 * Returns the path of a schema file relative to the schema root: `schemas/a/counter.ts` below `schemas` becomes
 * `a/counter.ts`. The root is a folder, or `""` for the folder of the config file.
 */
export function outputPath(path: string, schemaRoot: string): string {
  return schemaRoot !== "" && path.startsWith(`${schemaRoot}/`) ? path.slice(schemaRoot.length + 1) : path;
}

/**
 * Returns the folder that contains all files of some glob patterns: the common part of the patterns before their first
 * wildcard. The result depends only on the patterns, so a new schema file never moves the generated files.
 */
export function commonRoot(patterns: readonly string[]): string {
  const [first = [], ...others] = patterns.filter((pattern) => !pattern.startsWith("!")).map(fixedFolders);
  let length = first.length;
  for (const other of others) {
    const differing = first.findIndex((folder, i) => folder !== other[i]);
    length = Math.min(length, differing < 0 ? first.length : differing);
  }
  return first.slice(0, length).join("/");
}

/** Returns the folders of a pattern before its first wildcard, without the file name. */
function fixedFolders(pattern: string): readonly string[] {
  const parts = pattern.replace(/^\.\//, "").split("/");
  const wild = parts.findIndex((part) => /[*?{}[\]!()]/.test(part));
  return parts.slice(0, wild < 0 ? parts.length - 1 : wild);
}

/** Returns a path without its extension: `schemas/counter.ts` becomes `schemas/counter`. */
export function withoutExtension(path: string): string {
  return path.replace(/(\.d)?\.[cm]?tsx?$/, "");
}
