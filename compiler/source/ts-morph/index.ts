/** The ts-morph adapter of the `TypeSource` port. The only folder that imports ts-morph. */
export { openTypeSource, type TypeSourceOptions } from "./compiler-source.js";
export { tsconfigProblems } from "./tsconfig.js";
