export * from "./compile.js";
export * from "./drift.js";
export * from "./project.js";
