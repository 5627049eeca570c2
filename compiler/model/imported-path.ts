/**
 * The paths of schema files of other packages in the model: `node_modules/@acme/prices/schemas/price.ts`, wherever the
 * package is installed. The project's own schema files are never below `node_modules`.
 */

export const importedRoot = "node_modules/";

/** @param path the path relative to the folder of the package's config */
export function importedPath(packageName: string, path: string): string {
  return `${importedRoot}${packageName}/${path}`;
}

/** Returns the package of an imported schema file, or an empty text for a schema file of the project. */
export function packageOfPath(path: string): string {
  if (!path.startsWith(importedRoot)) return "";
  const parts = path.slice(importedRoot.length).split("/");
  return parts.slice(0, parts[0]?.startsWith("@") ? 2 : 1).join("/");
}

/** Returns a path for a reader: `@acme/prices/schemas/price.ts`, or the path itself of a schema file of the project. */
export function withoutImportedRoot(path: string): string {
  return path.startsWith(importedRoot) ? path.slice(importedRoot.length) : path;
}
