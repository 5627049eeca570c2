/**
 * Paths in a tree. What arrives from another host is not trusted, so every path is checked before anything is written: it
 * must lead to a place inside of the tree, without links.
 */

/** The largest length of a path in bytes of UTF-8. Linux allows 4,096 with the terminating NUL. */
export const MAX_PATH_BYTES = 4_095;
/** The largest length of a name in bytes of UTF-8, on all common file systems. */
export const MAX_NAME_BYTES = 255;
/** The number of links that may lead to each other, as in Linux. */
const MAX_LINKS = 40;

/** Paths that need no further check: short names of common characters, none of which begins with a dot. */
const PLAIN = /^[\w@+-][\w.@+-]{0,99}(?:\/[\w@+-][\w.@+-]{0,99}){0,30}$/;

/**
 * Returns why a text is not a path of a file in a tree, as the end of a sentence, or undefined.
 *
 * @param path the path, with "/" between names
 * @param platform the platform of the host; Windows gives more characters a meaning
 */
export function refusePath(path: string, platform: NodeJS.Platform = process.platform): string | undefined {
  if (PLAIN.test(path)) return undefined;
  if (path === "") return "the path is empty";
  if (path.includes("\0")) return "the path contains a NUL character";
  if (path.startsWith("/")) return "the path is absolute";
  if (!path.isWellFormed()) return "the path is not valid Unicode";
  if (platform === "win32" && /[\\:]/.test(path)) return "the path contains a character that Windows reserves";
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `the path is longer than ${MAX_PATH_BYTES} bytes`;
  for (const name of path.split("/")) {
    if (name === "") return "the path contains an empty name";
    if (name === "." || name === "..") return `the path contains the name "${name}"`;
    if (Buffer.byteLength(name) > MAX_NAME_BYTES) return `a name is longer than ${MAX_NAME_BYTES} bytes`;
  }
  return undefined;
}

/**
 * Follows a link inside of a tree, through other links of the tree.
 *
 * @param path the path of the link in the tree
 * @param targetOf returns the target of the link at a path, or undefined if there is no link
 * @returns the path in the tree to which the link leads, "" for the tree itself, or why it is refused
 */
export function followLink(
  path: string,
  targetOf: (path: string) => string | undefined,
): { readonly path: string } | { readonly refused: string } {
  const pending = path.split("/").reverse();
  const reached: string[] = [];
  let links = 0;
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (name === "" || name === ".") continue;
    if (name === "..") {
      if (reached.pop() === undefined) return { refused: "it leads out of the tree" };
      continue;
    }
    reached.push(name);
    const target = targetOf(reached.join("/"));
    if (target === undefined) continue;
    if (++links > MAX_LINKS) return { refused: "it leads to itself through other links" };
    if (target === "") return { refused: "its target is empty" };
    if (target.includes("\0")) return { refused: "its target contains a NUL character" };
    if (target.startsWith("/")) return { refused: `its target is absolute, got "${target}"` };
    reached.pop();
    pending.push(...target.split("/").reverse());
  }
  return { path: reached.join("/") };
}

/**
 * Compares two paths by their bytes in UTF-8, which is the order of manifests. The order of JavaScript differs for characters outside of
 * the Basic Multilingual Plane.
 */
export function comparePaths(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  for (let i = 0; i < length; i++) {
    const a = left.charCodeAt(i);
    const b = right.charCodeAt(i);
    if (a === b) continue;
    const isHigh = a >= 0xd800 && a <= 0xdfff;
    // A surrogate stands for a character above all others.
    if (isHigh !== (b >= 0xd800 && b <= 0xdfff)) return isHigh ? 1 : -1;
    return a < b ? -1 : 1;
  }
  return left.length < right.length ? -1 : 1;
}
