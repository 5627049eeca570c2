/** What threads that emit together are told, and how they share the modules. */
import type { EmittedFile, TypeScriptFiles, TypeScriptOptions } from "../emit/index.js";
import type { Schema } from "../model/index.js";

/** As the pipeline has them: with the protobuf package. */
export type EmitOptions = TypeScriptOptions & { readonly protoPackage: string };

export interface EmitJob {
  readonly schema: Schema;
  /** Without what threads work out of the schema: it is no data. */
  readonly options: Omit<EmitOptions, "enumNames">;
  /** The module that nobody has taken yet; shared between threads. */
  readonly next: Int32Array;
}

/** A module's index in the schema's files, and its text. */
export type EmittedModule = readonly [index: number, file: EmittedFile];

/** Emits one module after the other of those that no thread has taken, until none is left. */
export function emitShare(files: TypeScriptFiles, next: Int32Array): EmittedModule[] {
  const share: EmittedModule[] = [];
  for (let index = Atomics.add(next, 0, 1); index < files.modules; index = Atomics.add(next, 0, 1)) {
    share.push([index, files.module(index)]);
  }
  return share;
}
