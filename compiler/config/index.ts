export * from "./config.js";
export * from "./load.js";
export * from "./validate.js";
