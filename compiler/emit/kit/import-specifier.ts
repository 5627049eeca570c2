/**
 * Paths below the output folder. They have forward slashes on every system. These functions do not access the file
 * system.
 */

/** Returns the last part of a path: `a/b/c.ts` -> `c.ts`. */
export function basename(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/**
 * The extension with which generated code imports TypeScript files. `.js` names the compiled file. `.ts` names the
 * source, as Node.js requires where it runs TypeScript by stripping types.
 */
export type ImportExtension = ".js" | ".ts";

/**
 * Returns the specifier with which the file `from` imports the file `to`: `./b.js`, `../a/b.js`.
 * @param extension with `.js`, `.ts` becomes `.js`; with `.ts`, the name of the file stays
 */
export function relativeSpecifier(from: string, to: string, extension: ImportExtension = ".js"): string {
  const here = from.split("/").slice(0, -1);
  const there = to.split("/");
  let shared = 0;
  while (shared < here.length && shared < there.length - 1 && here[shared] === there[shared]) shared++;
  const up = here.length - shared;
  const rest = there.slice(shared).join("/");
  const specifier = up === 0 ? `./${rest}` : "../".repeat(up) + rest;
  return extension === ".ts" ? specifier : toRuntimePath(specifier);
}

/** Returns the name of the compiled file. */
export function toRuntimePath(path: string): string {
  return path.replace(/\.(c|m)?tsx?$/, (_, kind: string | undefined) => `.${kind ?? ""}js`);
}
