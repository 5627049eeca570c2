/**
 * Finds the places of modules in a tree of files that is brought to other machines (`runtime/sync`). Modules that were prepared for a tree
 * are a part of it, and name everything by relative URLs, so that they are the same bytes wherever the tree is.
 */

/** A folder of this machine, and its place in the tree. */
export interface TreeFolder {
  /** The URL of the folder, with a slash at its end. */
  readonly from: string;
  /** The path in the tree as in a URL: it begins and ends with a slash, and special characters are escaped. */
  readonly to: string;
}

export interface TreeLayout {
  /** The first one that contains a file counts. */
  readonly folders: readonly TreeFolder[];
  /** The folder of the prepared modules, as {@link TreeFolder.to}. */
  readonly prepared: string;
}

/** Returns the path in the tree of a URL of this machine, as in a URL; undefined if the tree does not contain it. */
export function pathInTree({ folders }: TreeLayout, url: string): string | undefined {
  const found = folders.find(({ from }) => url.startsWith(from));
  return found === undefined ? undefined : found.to + url.slice(found.from.length);
}

/** Returns a URL relative to the folder of the prepared modules; undefined if the tree does not contain it. */
export function relativeToPrepared(layout: TreeLayout, url: string): string | undefined {
  const path = pathInTree(layout, url);
  return path === undefined ? undefined : relativeUrl(layout.prepared, path);
}

function relativeUrl(folder: string, path: string): string {
  const above = folder.split("/").slice(0, -1);
  const parts = path.split("/");
  let common = 0;
  while (common < above.length && common < parts.length - 1 && above[common] === parts[common]) common++;
  return [...above.slice(common).map(() => ".."), ...parts.slice(common)].join("/");
}
