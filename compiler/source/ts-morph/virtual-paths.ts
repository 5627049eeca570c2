/** Where files are, for the compiler: nothing of the disk is visible to it. */

/** The config's root. */
export const rootFolder = "/schemas/root/";
export const libraryFile = "/viceroy/library.d.ts";
export const vocabularyFile = "/viceroy/schema.ts";
/** What schema files import the vocabulary as. */
export const vocabularyName = "viceroy/schema";
