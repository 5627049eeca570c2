/** What a reader demands and a writer need not write. */
import type { ProtoField, ProtoMessage, ProtoSchema } from "../protobuf/proto-schema.js";

/** The fields without which `reader` refuses a message, and that `writer` may leave out, or does not know. */
export function demandedOnlyBy(
  reader: ProtoMessage,
  writer: ProtoMessage,
  readerSchema: ProtoSchema,
): readonly ProtoField[] {
  const written = new Set(writer.fields.filter(isAlwaysWritten).map(({ number }) => number));
  return reader.fields.filter((field) => isDemanded(field, readerSchema, []) && !written.has(field.number));
}

/** Whether it is in every message. */
export function isAlwaysWritten({ demanded, always }: ProtoField): boolean {
  return (demanded ?? false) || (always ?? false);
}

/** A message with a default has none if what it is read as is refused. */
function isDemanded({ demanded, always, type }: ProtoField, schema: ProtoSchema, inside: readonly string[]): boolean {
  if (demanded) return true;
  if (!always || type.kind !== "message" || inside.includes(type.name)) return false;
  const message = schema.messages.get(type.name);
  if (message === undefined) return false;
  return (
    (message.demandedOneofs ?? []).length > 0 ||
    message.fields.some((field) => isDemanded(field, schema, [...inside, type.name]))
  );
}
