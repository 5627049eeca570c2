export * from "./file-error.js";
export * from "./output-plan.js";
export * from "./tree-state.js";
export * from "./write-output.js";
