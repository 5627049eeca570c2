/** Compares the fields that a reader requires with those that a writer always writes. */
import type { ProtoField, ProtoMessage, ProtoSchema } from "../protobuf/proto-schema.js";

/** Returns the fields without which `reader` refuses a message and which `writer` may omit or does not know. */
export function demandedOnlyBy(
  reader: ProtoMessage,
  writer: ProtoMessage,
  readerSchema: ProtoSchema,
): readonly ProtoField[] {
  const written = new Set(writer.fields.filter(isAlwaysWritten).map(({ number }) => number));
  return reader.fields.filter((field) => isDemanded(field, readerSchema, []) && !written.has(field.number));
}

/** Returns whether every message contains the field. */
export function isAlwaysWritten({ demanded, always }: ProtoField): boolean {
  return (demanded ?? false) || (always ?? false);
}

/**
 * Returns whether a reader refuses a message without the field. A field of message type whose default is the empty
 * message is also required if a reader refuses that empty message.
 */
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
