/** Where generated files go: the tree of schema files below their common root, again below the output folder. */

/** `schemas/a/counter.ts` below `schemas` -> `a/counter.ts`. The root is a folder, `""` for the config's own. */
export function outputPath(path: string, schemaRoot: string): string {
  return schemaRoot !== "" && path.startsWith(`${schemaRoot}/`) ? path.slice(schemaRoot.length + 1) : path;
}

/**
 * The folder below which all files of some glob patterns are: what stands before their first wildcard. It depends on
 * the patterns alone, so that a new schema file never moves the generated ones.
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

/** The folders of a pattern that hold no wildcard; its last part is a file. */
function fixedFolders(pattern: string): readonly string[] {
  const parts = pattern.replace(/^\.\//, "").split("/");
  const wild = parts.findIndex((part) => /[*?{}[\]!()]/.test(part));
  return parts.slice(0, wild < 0 ? parts.length - 1 : wild);
}

/** `schemas/counter.ts` -> `schemas/counter`. */
export function withoutExtension(path: string): string {
  return path.replace(/(\.d)?\.[cm]?tsx?$/, "");
}
