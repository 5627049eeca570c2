export * from "./find-actors.js";
export type * from "./module-outline.js";
