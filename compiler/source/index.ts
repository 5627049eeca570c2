/**
 * Reads schema files from TypeScript into the model. Importing this module does not load a compiler; opening a type
 * source does.
 */
export { type ReadSchema, type RefusedImport, readSchema } from "./read/index.js";
export {
  type ImportSettings,
  openModuleResolver,
  openTypeSource,
  type ResolveModule,
  readImportSettings,
  type TypeSourceOptions,
  tsconfigProblems,
} from "./ts-morph/index.js";
export type { PackageImport, SourceText, TypeSource } from "./type-source.js";
