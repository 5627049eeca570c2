/**
 * Finds what a module imports, by its text. It finds too much rather than too little: what is named in a comment is imported as
 * well. A parser would have to know TypeScript, and what matters is only which ignored files a program needs.
 */

/** Files that can import others. */
const CODE = /\.[cm]?[jt]sx?$/;

/** Returns whether a file contains JavaScript or TypeScript, by its name. */
export function isCode(file: string): boolean {
  return CODE.test(file);
}

/**
 * Returns the specifiers that a text names: relative paths in any text literal, and the names of packages after `from`, `import`
 * and `require`.
 */
export function importsIn(text: string): string[] {
  const found = new Set<string>();
  for (const [, , specifier] of text.matchAll(/(["'`])(\.{1,2}\/[^"'`\n\\$]*)\1/g)) found.add(specifier as string);
  const named = /\b(?:from|import|require)\s*\(?\s*(["'`])([#@\w][^"'`\n\\$]*)\1/g;
  for (const [, , specifier] of text.matchAll(named)) {
    if (!(specifier as string).startsWith("node:")) found.add(specifier as string);
  }
  return [...found];
}

/** What a specifier can mean when no file has exactly that name: sources of compiled names, and left out endings. */
export function candidatesOf(file: string): string[] {
  const candidates = [file];
  const match = /\.([cm]?)js(x?)$/.exec(file);
  if (match !== null) {
    const stem = file.slice(0, match.index);
    candidates.push(`${stem}.${match[1]}ts`, `${stem}.tsx`);
  }
  for (const ending of [".js", ".ts", ".mjs", ".cjs", ".mts", ".cts", ".tsx", ".json", ".node"])
    candidates.push(file + ending);
  for (const index of ["index.js", "index.ts", "index.mjs", "index.cjs", "package.json"])
    candidates.push(`${file}/${index}`);
  return candidates;
}

/** Returns the paths and patterns that a package.json names as files of its package, relative to its folder. */
export function filesOfPackage(text: string): string[] {
  let manifest: unknown;
  try {
    manifest = JSON.parse(text);
  } catch {
    return [];
  }
  const { main, module, exports, imports, bin } = (manifest ?? {}) as Record<string, unknown>;
  const files = new Set<string>();
  const collect = (value: unknown, anyName: boolean): void => {
    if (typeof value === "string") {
      if (anyName || value.startsWith("./")) files.add(value);
    } else if (typeof value === "object" && value !== null) {
      for (const part of Object.values(value)) collect(part, anyName);
    }
  };
  collect([main, module, bin], true);
  collect([exports, imports], false);
  // Conditions for declarations name files that no program loads; they do no harm.
  return [...files];
}
