export { CompileMemory } from "./compile-memory.js";
export * from "./compile-project.js";
export * from "./drift.js";
export * from "./project-files.js";
