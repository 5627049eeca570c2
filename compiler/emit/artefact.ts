/** What the emitter of an artefact gets and returns. Every emitter has a folder of its own and knows nothing of the others. */
import type { Diagnostic } from "../diagnostics/index.js";
import type { Lock } from "../lock/index.js";
import type { Schema } from "../model/index.js";
import type { LoweredSchema } from "../protobuf/lower/lowered-schema.js";

export interface ArtefactInput {
  /** The schema, with ids and without errors. */
  readonly schema: Schema;
  /** The lock that matches the schema, with its tombstones. */
  readonly lock: Lock;
  /** The lock as it was before this run, if there was one. */
  readonly previousLock?: Lock | undefined;
  /** Whether TypeScript is emitted too, so that other generated files may import it. */
  readonly typeScript?: boolean;
  /** The version of Viceroy. */
  readonly version: string;
  /** The folder that all schema files are below, relative to the config's root: `schemas`. */
  readonly schemaRoot: string;
  /** The package of the `.proto` files: `acme.shop.v1`. */
  readonly protoPackage: string;
  /** The schema in the protobuf layout, in that package. */
  readonly lowered: LoweredSchema;
}

export interface ArtefactFile {
  /** The path below the output folder, with forward slashes. */
  readonly path: string;
  /** The text, or the bytes of a file that is not text. */
  readonly content: string | Uint8Array;
  /** Whether a file of that name that users have written replaces this one. */
  readonly isDefault?: boolean;
}

export interface EmittedArtefact {
  readonly files: readonly ArtefactFile[];
  /** The parts of the schema that the notation cannot express. */
  readonly diagnostics: readonly Diagnostic[];
}

export type ArtefactEmitter = (input: ArtefactInput) => EmittedArtefact;
