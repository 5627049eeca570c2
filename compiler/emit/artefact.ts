/**
 * The input and output of the emitter of an artefact. Each emitter is a folder and does not depend on the other
 * emitters.
 */
import type { Diagnostic } from "../diagnostics/index.js";
import type { Lock } from "../lock/index.js";
import type { Schema } from "../model/index.js";
import type { LoweredSchema } from "../protobuf/lower/lowered-schema.js";

export interface ArtefactInput {
  /** The schema, with ids and without errors. */
  readonly schema: Schema;
  /** The lock that matches the schema, with its tombstones. */
  readonly lock: Lock;
  /** The lock before this run, if there was one. */
  readonly previousLock?: Lock | undefined;
  /** Whether TypeScript is also emitted, so that other generated files can import it. */
  readonly typeScript?: boolean;
  /** The extension with which generated TypeScript imports TypeScript files. Default: `.js`. */
  readonly importExtension?: ".js" | ".ts";
  /** The version of Viceroy. */
  readonly version: string;
  /** The folder that contains all schema files, relative to the folder of the config: `schemas`. */
  readonly schemaRoot: string;
  /** The package of the `.proto` files: `acme.shop.v1`. */
  readonly protoPackage: string;
  /** The locks of the packages from which the schema imports types, by package. */
  readonly importedLocks?: ReadonlyMap<string, Lock>;
  /** Returns whether another package contains a generated file. `file` is relative to its output folder. */
  readonly isEmittedBy?: (packageName: string, file: string) => boolean;
  /** The output folder, relative to the folder of the config: `generated`. */
  readonly out: string;
  /** The texts of the schema files, by path. */
  readonly texts: ReadonlyMap<string, string>;
  /** The protobuf form of the schema, in that package. */
  readonly lowered: LoweredSchema;
}

export interface ArtefactFile {
  /** The path below the output folder, with forward slashes. */
  readonly path: string;
  /** The text, or the bytes of a file that is not text. */
  readonly content: string | Uint8Array;
  /** Whether a file with this path that a user has written replaces this one. */
  readonly isDefault?: boolean;
}

export interface EmittedArtefact {
  readonly files: readonly ArtefactFile[];
  /** The parts of the schema that the notation cannot express. */
  readonly diagnostics: readonly Diagnostic[];
}

export type ArtefactEmitter = (input: ArtefactInput) => EmittedArtefact;
