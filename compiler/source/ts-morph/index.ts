/** The implementation of `TypeSource` with ts-morph. This is the only folder that imports ts-morph. */
export { openTypeSource, type TypeSourceOptions } from "./compiler-source.js";
export { openModuleResolver, type ResolveModule } from "./resolve-module.js";
export { type ImportSettings, readImportSettings, tsconfigProblems } from "./tsconfig.js";
