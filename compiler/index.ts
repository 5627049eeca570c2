/** `viceroy/compiler`: what a config file needs, and the compiler as a library. */
export { type Artefact, type Config, ConfigError, defineConfig, type UserConfig } from "./config/index.js";
export type { Diagnostic, DiagnosticCode, Severity } from "./diagnostics/index.js";
export type * from "./model/index.js";
