/** Schemas of the protobuf layout by hand, for tests of rules. */
import type {
  ProtoEnum,
  ProtoField,
  ProtoMessage,
  ProtoScalar,
  ProtoSchema,
  ProtoService,
  ProtoType,
} from "../../shared/protobuf/proto-schema.js";

type Part =
  | { readonly message: ProtoMessage }
  | { readonly enumeration: ProtoEnum }
  | { readonly service: ProtoService };

export function schema(...parts: readonly Part[]): ProtoSchema {
  const named = <T extends { readonly name: string }>(all: readonly T[]) => new Map(all.map((one) => [one.name, one]));
  return {
    messages: named(parts.flatMap((part) => ("message" in part ? [part.message] : []))),
    enums: named(parts.flatMap((part) => ("enumeration" in part ? [part.enumeration] : []))),
    services: named(parts.flatMap((part) => ("service" in part ? [part.service] : []))),
  };
}

export function message(name: string, fields: readonly ProtoField[], more: Partial<ProtoMessage> = {}): Part {
  return { message: { name, fields, ...more } };
}

/** @param type the name of a scalar, or `message:Name`, `enum:Name` */
export function field(name: string, number: number, type: string, more: Partial<ProtoField> = {}): ProtoField {
  const cardinality = type.startsWith("message:") || more.oneof !== undefined ? "explicit" : "implicit";
  return { name, jsonName: name, number, cardinality, type: typeOf(type), ...more };
}

function typeOf(text: string): ProtoType {
  const [kind, name = ""] = text.split(":");
  if (kind === "message" || kind === "enum") return { kind, name };
  return { kind: "scalar", scalar: text as ProtoScalar };
}

export function enumeration(name: string, values: Readonly<Record<string, number>>): Part {
  return {
    enumeration: { name, values: Object.entries(values).map(([value, number]) => ({ name: value, number })) },
  };
}

/** @param methods `get: [id, request, response]`, with `"stream"` behind where it streams */
export function service(
  name: string,
  id: number,
  methods: Readonly<Record<string, readonly [number, string, string, "stream"?]>>,
): Part {
  const list = Object.entries(methods).map(([method, [number, request, response, stream]]) => {
    return { name: method, id: number, request, response, stream: stream !== undefined };
  });
  return { service: { name, id, methods: list } };
}
