/** Paths below the output folder, with forward slashes on every system. Text alone: no file system. */

/** `a/b/c.ts` -> `c.ts`. */
export function basename(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The specifier by which the file `from` imports the file `to`: `./b.js`, `../a/b.js`. `.ts` becomes `.js`. */
export function relativeSpecifier(from: string, to: string): string {
  const here = from.split("/").slice(0, -1);
  const there = to.split("/");
  let shared = 0;
  while (shared < here.length && shared < there.length - 1 && here[shared] === there[shared]) shared++;
  const up = here.length - shared;
  const rest = there.slice(shared).join("/");
  return toRuntimePath(up === 0 ? `./${rest}` : "../".repeat(up) + rest);
}

/** The name that the compiled file has at run time. */
export function toRuntimePath(path: string): string {
  return path.replace(/\.(c|m)?tsx?$/, (_, kind: string | undefined) => `.${kind ?? ""}js`);
}
