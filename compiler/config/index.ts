export * from "./config.js";
export * from "./find.js";
export * from "./load.js";
export * from "./validate.js";
