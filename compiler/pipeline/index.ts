export * from "./compile.js";
export * from "./drift.js";
export { CompileMemory } from "./memory.js";
export * from "./project.js";
