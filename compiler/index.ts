/**
 * The types of a configuration file, and the model of a compiled schema.
 *
 * @module
 */
export {
  type Artefact,
  type Config,
  ConfigError,
  defineConfig,
  type IgnoredBreak,
  type UserBreakConfig,
  type UserConfig,
  type UserProtoConfig,
} from "./config/index.js";
export type { Diagnostic, DiagnosticCode, Severity } from "./diagnostics/index.js";
export type * from "./model/index.js";
