/**
 * Names that code is built of, whose spelling depends on the file that they stand in: what is imported, what is global,
 * what is local. A name is plain data; two equal names are one name. Spelling them is spelling.ts.
 */

/** A package's module (`"viceroy/codegen/v1"`), or another generated file by its path below the output folder. */
export type ImportSource = string | { readonly file: string };

export interface ImportedName {
  readonly kind: "import";
  readonly from: ImportSource;
  readonly name: string;
  /** Used as a type alone: printed as `type Reader`, unless the same name is used as a value elsewhere in the file. */
  readonly typeOnly: boolean;
}

export interface GlobalName {
  readonly kind: "global";
  readonly name: string;
}

/** Made by `FileBuilder.local` and `Scope.name`: a name of its own, even when another one wants the same spelling. */
export interface LocalName {
  readonly kind: "local";
  readonly wanted: string;
  readonly spelling: string;
}

export type CodeName = ImportedName | GlobalName | LocalName;

/** A value imported from `from`. In the file that declares it, it is that declaration and nothing is imported. */
export function importedValue(from: ImportSource, name: string): ImportedName {
  return { kind: "import", from, name, typeOnly: false };
}

/** A type imported from `from`. */
export function importedType(from: ImportSource, name: string): ImportedName {
  return { kind: "import", from, name, typeOnly: true };
}

/** A global such as `Map` or `Uint8Array`: printed `globalThis.Map` where the file has a `Map` of its own. */
export function globalName(name: string): GlobalName {
  let known = globals.get(name);
  if (known === undefined) {
    known = { kind: "global", name };
    globals.set(name, known);
  }
  return known;
}

const globals = new Map<string, GlobalName>();
