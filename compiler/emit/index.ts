/** The emitters: from the schema model to files. One folder per artefact, one kit for all of them. */
export type { ArtefactInput, EmittedArtefact } from "./artefact.js";
export { artefactEmitters } from "./artefact-emitters.js";
export {
  commonRoot,
  EmitMemory,
  type EmittedFile,
  emitTypeScript,
  findClashes,
  generatedBases,
  type NameClash,
  type TypeScriptOptions,
} from "./typescript/index.js";
