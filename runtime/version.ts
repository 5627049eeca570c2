/** The version of Viceroy. */

/** Replaced by the build with the package's version. */
declare const VICEROY_VERSION: string | undefined;

/** The version of Viceroy, as in package.json; `0.0.0` when the sources run without a build. */
export const version = typeof VICEROY_VERSION === "string" ? VICEROY_VERSION : "0.0.0";
