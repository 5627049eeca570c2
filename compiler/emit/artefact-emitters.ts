/** The table of emitters, by the names of the artefacts in the config. */
import type { Artefact } from "../config/index.js";
import type { ArtefactEmitter } from "./artefact.js";
import { emitCapnp } from "./capnp/index.js";
import { emitConnect } from "./connect/index.js";
import { emitContract } from "./contract/index.js";
import { emitDescriptorSet } from "./descriptor/index.js";
import { emitJsonSchema } from "./jsonschema/index.js";
import { emitProto } from "./proto/index.js";

/** TypeScript is not in this table: the pipeline emits it from the model. */
export const artefactEmitters: Readonly<Record<Exclude<Artefact, "ts">, ArtefactEmitter>> = {
  proto: emitProto,
  descriptor: emitDescriptorSet,
  jsonschema: emitJsonSchema,
  capnp: emitCapnp,
  connect: emitConnect,
  contract: emitContract,
};
