/** Converts the description of a schema to text and back. The text is JSON, with maps as lists of their entries. */
import type { ProtoSchema } from "../../../shared/protobuf/proto-schema.js";

export function writeSchema(schema: ProtoSchema): string {
  return JSON.stringify(schema, (_key, value: unknown) => (value instanceof Map ? [...value] : value));
}

/**
 * Parses the text of a schema. The contents of single members are not checked.
 *
 * @throws {Error} when the text does not have the form that `writeSchema` produces
 */
export function readSchema(text: string): ProtoSchema {
  const { messages, enums, services } = asRecord(JSON.parse(text), "a schema");
  return {
    messages: mapOf(messages, "fields"),
    enums: mapOf(enums, "values"),
    services: mapOf(services, "methods"),
  };
}

function mapOf<T>(entries: unknown, list: string): ReadonlyMap<string, T> {
  const read = new Map<string, T>();
  for (const entry of asList(entries, "a list of types")) {
    const [name, type] = asList(entry, "a name with a type");
    if (typeof name !== "string") throw new TypeError(`expected the name of a type, got ${typeof name}`);
    for (const member of asList(asRecord(type, name)[list], `${name}.${list}`)) asRecord(member, `a member of ${name}`);
    read.set(name, type as T);
  }
  return read;
}

function asList(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new TypeError(`expected ${what}, got ${typeof value}`);
}

function asRecord(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null) return value as Readonly<Record<string, unknown>>;
  throw new TypeError(`expected ${what} as an object, got ${value === null ? "null" : typeof value}`);
}
