export * from "./assign.js";
export * from "./lock.js";
export { AssignMemory } from "./memory.js";
export * from "./parse.js";
export * from "./print.js";
export type * from "./problem.js";
