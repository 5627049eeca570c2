/**
 * Writes a binary `FileDescriptorSet`: the files of a schema, preceded by protobuf's own files that they import. It is
 * for tools and libraries that take descriptors instead of `.proto` files.
 */
import type { ProtoSchema } from "../proto-schema.js";
import { type WellKnownFile, wellKnownFiles, wellKnownPackage } from "../well-known-files.js";
import { type DescribedFile, writeFileDescriptor } from "./file-descriptor.js";
import { MessageWriter } from "./message-writer.js";

export type { DescribedFile } from "./file-descriptor.js";

/**
 * Writes the descriptor set of `files`.
 * @param headerOf returns the comment at the top of a file; without it, files have no such comment
 */
export function writeDescriptorSet<F extends DescribedFile>(
  files: readonly F[],
  schema: ProtoSchema,
  headerOf?: (file: F) => string,
): Uint8Array {
  const set = new MessageWriter();
  const imported = new Set(files.flatMap(({ imports }) => imports));
  for (const known of wellKnownFiles) {
    if (imported.has(known.path)) set.message(1, (w) => writeWellKnown(w, known));
  }
  for (const file of files) {
    set.message(1, (w) =>
      writeFileDescriptor(w, file, schema, headerOf === undefined ? {} : { header: headerOf(file) }),
    );
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
  writeFileDescriptor(w, { path, package: wellKnownPackage, imports: [], ...names }, schema, {
    options: (options) => writeOptions(options, known),
  });
}

/**
 * Writes the options of google/protobuf/*.proto. Other languages use them to find their built-in versions of these
 * types.
 */
function writeOptions(w: MessageWriter, { word, hasArenas }: WellKnownFile): void {
  w.string(1, "com.google.protobuf");
  w.string(8, `${word}Proto`);
  w.bool(10, true);
  w.string(11, `google.golang.org/protobuf/types/known/${word.toLowerCase()}pb`);
  w.bool(31, hasArenas);
  w.string(36, "GPB");
  w.string(37, "Google.Protobuf.WellKnownTypes");
}
