export * from "./actor-ids.js";
export { ContractError, contractFile } from "./contract.js";
export * from "./contract-store.js";
export * from "./imported-bases.js";
export * from "./imported-schemas.js";
