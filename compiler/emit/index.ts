/** The emitters, which write files from the schema model. Each artefact has a folder. All emitters share one kit. */
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
