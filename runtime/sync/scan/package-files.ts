/** Lists the files of an installed package, without the packages that are installed in it. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { globToRegExp } from "../../../shared/text/glob-to-regexp.js";

/** The folder of Viceroy's own declarations: most of its files, and no process loads them. */
const ownDeclarations = "dist/types/";

/**
 * Returns the files of a package, relative to its folder. A package that is linked from a checkout has more files than its users need:
 * then those count that `files` of its manifest names, as for `npm pack`.
 */
export function filesOfInstalled(folder: string): string[] {
  const { name, files } = manifestOf(folder);
  const found = allFiles(folder, files);
  return name === "viceroy" ? found.filter((file) => !file.startsWith(ownDeclarations)) : found;
}

interface Manifest {
  readonly name?: unknown;
  readonly files?: unknown;
}

function manifestOf(folder: string): Manifest {
  try {
    return JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) ?? {};
  } catch {
    // Node.js names the package that it cannot read.
    return {};
  }
}

function allFiles(folder: string, publishedNames: unknown): string[] {
  const found: string[] = [];
  const walk = (prefix: string): void => {
    for (const entry of readdirSync(path.join(folder, prefix), { withFileTypes: true })) {
      if (entry.name === "node_modules" || entry.name === ".git") continue;
      const at = prefix === "" ? entry.name : `${prefix}/${entry.name}`;
      if (entry.isDirectory()) walk(at);
      else if (entry.isFile() || entry.isSymbolicLink()) found.push(at);
    }
  };
  const published = folder.split(path.sep).includes("node_modules") ? undefined : publishedFiles(publishedNames);
  if (published === undefined) {
    walk("");
    return found;
  }
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === "node_modules" || entry.name === ".git") continue;
    if (entry.isDirectory()) {
      if (published.reaches(entry.name)) walk(entry.name);
    } else found.push(entry.name);
  }
  return found.filter((file) => file === "package.json" || published.has(file));
}

interface PublishedFiles {
  has(file: string): boolean;
  /** Returns whether a folder at the top can contain published files. */
  reaches(folder: string): boolean;
}

function publishedFiles(files: unknown): PublishedFiles | undefined {
  if (!Array.isArray(files)) return undefined;
  const rules = (files as string[]).map((text) => {
    const isExcluding = text.startsWith("!");
    const pattern = text
      .replace(/^!/, "")
      .replace(/^\.?\//, "")
      .replace(/\/?(?:\*\*)?$/, "");
    return { isExcluding, pattern, regExp: globToRegExp(pattern, { hidden: true }) };
  });
  const matches = (file: string, regExp: RegExp): boolean => {
    for (let at = file; at !== "."; at = path.posix.dirname(at)) if (regExp.test(at)) return true;
    return false;
  };
  return {
    has(file) {
      let isPublished = false;
      for (const { isExcluding, regExp } of rules) if (matches(file, regExp)) isPublished = !isExcluding;
      return isPublished;
    },
    reaches: (name) =>
      rules.some(
        ({ isExcluding, pattern }) => !isExcluding && (pattern.startsWith("*") || pattern.split("/")[0] === name),
      ),
  };
}
