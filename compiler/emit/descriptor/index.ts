/**
 * The emitter of a descriptor set: one binary `FileDescriptorSet` with all files of the schema, and those that they import
 * before them. For tools and libraries that take descriptors instead of `.proto` files.
 */
import type { ProtoSchema } from "../../../schemas/protobuf/descriptor.js";
import { clashDiagnostics } from "../../protobuf/clash-diagnostics.js";
import type { Lowered } from "../../protobuf/lowered.js";
import { type WellKnownFile, wellKnownFiles, wellKnownPackage } from "../../protobuf/well-known-files.js";
import type { ArtefactInput, EmittedArtefact } from "../artefacts.js";
import { protoHeader } from "../proto/index.js";
import { writeFile } from "./file.js";
import { MessageWriter } from "./writer.js";

export function emitDescriptorSet({ lowered, version }: ArtefactInput): EmittedArtefact {
  const content = descriptorSet(lowered, version);
  return { files: [{ path: "descriptor.binpb", content }], diagnostics: clashDiagnostics(lowered) };
}

/** @param version of Viceroy, for the comment at the top of each file */
export function descriptorSet(lowered: Lowered, version: string): Uint8Array {
  const set = new MessageWriter();
  const imported = new Set(lowered.files.flatMap(({ imports }) => imports));
  for (const known of wellKnownFiles) {
    if (imported.has(known.path)) set.message(1, (w) => writeWellKnown(w, known));
  }
  for (const file of lowered.files) {
    set.message(1, (w) => writeFile(w, file, lowered.schema, { header: protoHeader(file, version) }));
  }
  return set.finish();
}

function writeWellKnown(w: MessageWriter, known: WellKnownFile): void {
  const { path, messages, enums } = known;
  const schema: ProtoSchema = {
    messages: new Map(messages.map((message) => [message.name, message])),
    enums: new Map(enums.map((item) => [item.name, item])),
    services: new Map(),
  };
  const names = { messages: [...schema.messages.keys()], enums: [...schema.enums.keys()], services: [] };
  writeFile(w, { path, package: wellKnownPackage, imports: [], ...names }, schema, {
    options: (options) => writeOptions(options, known),
  });
}

/** Options of google/protobuf/*.proto, by which other languages find the types that they have already. */
function writeOptions(w: MessageWriter, { word, hasArenas }: WellKnownFile): void {
  w.string(1, "com.google.protobuf");
  w.string(8, `${word}Proto`);
  w.bool(10, true);
  w.string(11, `google.golang.org/protobuf/types/known/${word.toLowerCase()}pb`);
  w.bool(31, hasArenas);
  w.string(36, "GPB");
  w.string(37, "Google.Protobuf.WellKnownTypes");
}
