export { EmitMemory } from "../emit/index.js";
export * from "./compile.js";
export * from "./drift.js";
export * from "./project.js";
