/**
 * Exports what every process needs of the runtime: actors and the links between them, what generated code imports, and the boot code
 * of child processes. It becomes the file `dist/runtime.cjs`. The entry points of the package re-export from it and from the rest by
 * name, so that they share one instance of the runtime with each other and with user code (docs/decisions/0002).
 */
export * as codegenV1 from "../codegen/v1/index.js";
export * as boot from "../proc/process/boot.js";
export { loadEnvironmentWith } from "../wire/wire-environment.js";
