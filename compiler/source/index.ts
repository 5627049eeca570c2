/** Schema files, from TypeScript to the model. Importing this loads no compiler; opening a type source does. */
export { type ReadSchema, readSchema } from "./read/index.js";
export { openTypeSource, type TypeSourceOptions, tsconfigProblems } from "./ts-morph/index.js";
export type { SourceText, TypeSource } from "./type-source.js";
