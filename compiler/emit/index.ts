/** The emitters: from the schema model to files. One folder per artefact, one kit for all of them. */
export {
  type ActorImplementation,
  commonRoot,
  type EmittedFile,
  emitTypeScript,
  type TypeScriptOptions,
} from "./typescript/index.js";
