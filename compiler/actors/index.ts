export * from "./find.js";
export type * from "./outline.js";
