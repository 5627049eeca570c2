/** The version of Viceroy. The build replaces this constant. */
declare const VICEROY_VERSION: string;

export const version: string = typeof VICEROY_VERSION === "string" ? VICEROY_VERSION : "0.0.0-source";
