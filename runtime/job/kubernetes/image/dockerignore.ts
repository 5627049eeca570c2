/** The file `.dockerignore`: which files of a folder no COPY copies. */
import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { globToRegExp } from "../../../../shared/text/glob-to-regexp.js";

/** The patterns of a file. */
export interface Dockerignore {
  /** Whether a pattern brings files back that an earlier one leaves out. */
  readonly hasExceptions: boolean;
  /** @param path the path in the folder of the file, with forward slashes */
  isIgnored(path: string): boolean;
}

interface Pattern {
  readonly isException: boolean;
  readonly expression: RegExp;
}

/** Reads the file of a folder; undefined if it has none. */
export function readDockerignore(folder: string): Dockerignore | undefined {
  const file = join(folder, ".dockerignore");
  if (!existsSync(file)) return undefined;
  const patterns = readFileSync(file, "utf8").split(/\r?\n/).flatMap(parsePattern);
  return {
    hasExceptions: patterns.some(({ isException }) => isException),
    // The last pattern that matches decides.
    isIgnored: (path) => patterns.findLast(({ expression }) => matches(path, expression))?.isException === false,
  };
}

function parsePattern(line: string): Pattern[] {
  const text = line.trim();
  if (text === "" || text.startsWith("#")) return [];
  const isException = text.startsWith("!");
  const pattern = posix.normalize((isException ? text.slice(1) : text).trim()).replaceAll(/^\/+|\/+$/g, "");
  if (pattern === "" || pattern === ".") return [];
  // Other than elsewhere, braces mean themselves, and `**` at the end stands for any number of folders.
  const literal = pattern.replaceAll(/[{}]/g, (brace) => `[${brace}]`).replace(/\/\*\*$/, "/**/*");
  return [{ isException, expression: globToRegExp(literal, { hidden: true }) }];
}

/** A pattern that matches a folder matches what is in it. */
function matches(path: string, expression: RegExp): boolean {
  const parts = path.split("/");
  return parts.some((_, index) => expression.test(parts.slice(0, index + 1).join("/")));
}
