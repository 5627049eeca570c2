/** The table of emitters, by the names that a config has for the artefacts. */
import type { Artefact } from "../config/index.js";
import type { ArtefactEmitter } from "./artefact.js";
import { emitCapnp } from "./capnp/index.js";
import { emitDescriptorSet } from "./descriptor/index.js";
import { emitJsonSchema } from "./jsonschema/index.js";
import { emitProto } from "./proto/index.js";

/** TypeScript is not in the table: the pipeline emits it from the model. */
export const artefactEmitters: Readonly<Record<Exclude<Artefact, "ts">, ArtefactEmitter>> = {
  proto: emitProto,
  descriptor: emitDescriptorSet,
  jsonschema: emitJsonSchema,
  capnp: emitCapnp,
};
