export * from "./file-error.js";
export * from "./plan.js";
export * from "./state.js";
export * from "./write.js";
