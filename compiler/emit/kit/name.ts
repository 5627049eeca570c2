/**
 * Names in code whose spelling depends on the file that contains them: imported, global and local names. A name is
 * plain data, and two equal names are the same name. `spell-names.ts` spells them.
 */

/** A module of a package (`"viceroy/codegen/v1"`), or the path of another generated file below the output folder. */
export type ImportSource = string | { readonly file: string };

export interface ImportedName {
  readonly kind: "import";
  readonly from: ImportSource;
  readonly name: string;
  /**
   * Whether the name is used as a type only. It is imported as `type Reader`, unless the file also uses it as a value.
   */
  readonly typeOnly: boolean;
}

export interface GlobalName {
  readonly kind: "global";
  readonly name: string;
}

/**
 * A local name, created by `FileBuilder.local` or `NameScope.name`. It is unique, even if another name wants the same
 * spelling.
 */
export interface LocalName {
  readonly kind: "local";
  readonly wanted: string;
  readonly spelling: string;
}

export type CodeName = ImportedName | GlobalName | LocalName;

/** Returns the name of a value imported from `from`. In the file that declares the value, nothing is imported. */
export function importedValue(from: ImportSource, name: string): ImportedName {
  return { kind: "import", from, name, typeOnly: false };
}

/** Returns the name of a type imported from `from`. */
export function importedType(from: ImportSource, name: string): ImportedName {
  return { kind: "import", from, name, typeOnly: true };
}

/**
 * Returns the name of a global such as `Map` or `Uint8Array`. It is printed as `globalThis.Map` if the file declares a
 * `Map`.
 */
export function globalName(name: string): GlobalName {
  let known = globals.get(name);
  if (known === undefined) {
    known = { kind: "global", name };
    globals.set(name, known);
  }
  return known;
}

const globals = new Map<string, GlobalName>();
