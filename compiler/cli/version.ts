/** Viceroy's own version, put in by the build. */
declare const VICEROY_VERSION: string;

export const version: string = typeof VICEROY_VERSION === "string" ? VICEROY_VERSION : "0.0.0-source";
