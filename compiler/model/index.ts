export * from "./connected-components.js";
export * from "./fingerprint.js";
export * from "./flattened-oneof.js";
export * from "./resolve.js";
export type * from "./schema.js";
export type * from "./type.js";
export * from "./well-known.js";
