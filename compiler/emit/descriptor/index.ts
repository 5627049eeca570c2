/** Emits a descriptor set: one binary file with all files of the schema and the files that they import. */
import { writeDescriptorSet } from "../../../shared/protobuf/descriptor-set/index.js";
import { protoClashDiagnostics } from "../../protobuf/clash-diagnostics.js";
import type { LoweredSchema } from "../../protobuf/lower/lowered-schema.js";
import type { ArtefactInput, EmittedArtefact } from "../artefact.js";
import { protoHeader } from "../proto/index.js";

export function emitDescriptorSet({ lowered, version }: ArtefactInput): EmittedArtefact {
  const content = descriptorSet(lowered, version);
  return { files: [{ path: "descriptor.binpb", content }], diagnostics: protoClashDiagnostics(lowered) };
}

/** @param version the version of Viceroy, for the comment at the top of each file */
export function descriptorSet({ files, schema }: LoweredSchema, version: string): Uint8Array {
  return writeDescriptorSet(files, schema, (file) => protoHeader(file, version));
}
