/**
 * Finds names that clash inside a message. In protobuf, nested types, the values of nested enums, fields, oneofs and
 * the entries of map fields share one scope.
 */
import { entryName } from "../../../shared/protobuf/derived.js";
import type { ProtoField, ProtoSchema } from "../../../shared/protobuf/proto-schema.js";
import type { Origin, ProtoClash } from "./lowered-schema.js";

/**
 * Returns clashes of members with nested types. Clashes between types, and between values, are found when names are
 * assigned.
 */
export function scopeClashes(
  { messages, enums }: ProtoSchema,
  origins: ReadonlyMap<string, Origin>,
): readonly ProtoClash[] {
  const inside = new Map<string, string[]>();
  const note = (name: string, type: string): void => {
    const scope = name.slice(0, name.lastIndexOf("."));
    if (!messages.has(scope)) return;
    inside.set(name, [...(inside.get(name) ?? []), type]);
  };
  for (const name of messages.keys()) note(name, name);
  for (const { name, values } of enums.values()) {
    note(name, name);
    const scope = name.slice(0, name.lastIndexOf("."));
    for (const value of values) note(`${scope}.${value.name}`, `${name}.${value.name}`);
  }
  if (inside.size === 0) return [];
  return [...messages.values()].flatMap((message) =>
    message.fields.flatMap((field) =>
      takenBy(field).flatMap(([name, what]): ProtoClash[] => {
        const [other] = inside.get(`${message.name}.${name}`) ?? [];
        const origin = other === undefined ? undefined : origins.get(other);
        if (origin === undefined) return [];
        const first = `${what} ${field.name} of ${origins.get(message.name)?.place ?? message.name}`;
        return [{ kind: "type", name: `${message.name}.${name}`, first, second: origin.place, at: origin.at }];
      }),
    ),
  );
}

/** Returns the names that a field takes in its message, each with a description. */
function takenBy({ name, cardinality, oneof }: ProtoField): readonly (readonly [name: string, what: string])[] {
  return [
    [name, "field"],
    ...(cardinality === "map" ? [[entryName(name), "the entry of field"] as const] : []),
    ...(oneof === undefined ? [] : [[oneof, "the oneof of field"] as const]),
  ];
}
