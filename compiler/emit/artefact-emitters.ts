/**
 * What can be emitted beside TypeScript: a table of emitters, by the words that a config asks for them with. Each has a
 * folder of its own below this one, and knows nothing of the others.
 */
import type { Artefact } from "../config/index.js";
import type { Diagnostic } from "../diagnostics/index.js";
import type { Lock } from "../lock/index.js";
import type { Schema } from "../model/index.js";
import type { LoweredSchema } from "../protobuf/lower/lowered-schema.js";
import { emitCapnp } from "./capnp/index.js";
import { emitDescriptorSet } from "./descriptor/index.js";
import { emitJsonSchema } from "./jsonschema/index.js";
import { emitProto } from "./proto/index.js";

export interface ArtefactInput {
  /** Free of errors, with ids. */
  readonly schema: Schema;
  /** The one that goes with the schema: with the tombstones. */
  readonly lock: Lock;
  /** As it was before this run; absent where there was none. */
  readonly previousLock?: Lock | undefined;
  /** Whether TypeScript is emitted too: what else is generated may import it. */
  readonly typeScript?: boolean;
  /** Viceroy's own. */
  readonly version: string;
  /** The folder that all schema files are below, relative to the config's root: `schemas`. */
  readonly schemaRoot: string;
  /** Of the `.proto` files: `acme.shop.v1`. */
  readonly protoPackage: string;
  /** The schema as protobuf has it, in that package. */
  readonly lowered: LoweredSchema;
}

export interface ArtefactFile {
  /** Below the output folder, with forward slashes. */
  readonly path: string;
  /** What it is if it is not text. */
  readonly content: string | Uint8Array;
  /** A default: a file of that name that somebody else has written stays, and takes its place. */
  readonly isDefault?: boolean;
}

export interface EmittedArtefact {
  readonly files: readonly ArtefactFile[];
  /** What this notation cannot say of the schema. */
  readonly diagnostics: readonly Diagnostic[];
}

export type ArtefactEmitter = (input: ArtefactInput) => EmittedArtefact;

/** TypeScript has a way of its own. */
export const artefactEmitters: Readonly<Record<Exclude<Artefact, "ts">, ArtefactEmitter>> = {
  proto: emitProto,
  descriptor: emitDescriptorSet,
  jsonschema: emitJsonSchema,
  capnp: emitCapnp,
};
