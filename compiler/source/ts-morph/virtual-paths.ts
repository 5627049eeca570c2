/** The virtual paths of the files that the compiler sees. The compiler has no access to the disk. */

/** The folder of the config. */
export const rootFolder = "/schemas/root/";
export const libraryFile = "/viceroy/library.d.ts";
export const vocabularyFile = "/viceroy/schema.ts";
/** The module name of the vocabulary in schema files. */
export const vocabularyName = "viceroy/schema";
/** The folder of modules that re-export several schema files of a package, which an import of the package stands for. */
export const barrelFolder = "/viceroy/packages/";
