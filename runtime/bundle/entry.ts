/** Exports the whole runtime, for programs that a bundler puts into one file. */
export * from "./core.js";
export * from "./rest.js";
