export * from "./assign.js";
export { conflictsIn } from "./conflict-markers.js";
export * from "./lock.js";
export { AssignMemory } from "./memory.js";
export * from "./merge/index.js";
export * from "./parse.js";
export { lockHeader, printActorId, printEntry, printHead, printLock, printName } from "./print.js";
export type * from "./problem.js";
export { changesSince, type LockChange } from "./since.js";
