/** The `google.rpc.ErrorInfo` in the details of an error, with which the gateway identifies the actor. */
import type { DescMessage } from "@bufbuild/protobuf";
import type { ProtoField } from "../../shared/protobuf/proto-schema.js";
import { createTypeRegistry } from "./type-registry.js";

/** The domain of the errors of a gateway. */
export const errorDomain = "viceroy";

const stringType = { kind: "scalar", scalar: "string" } as const;

/** The descriptor of `google.rpc.ErrorInfo`, for which clients of all languages have support. */
export const errorInfo: DescMessage = (() => {
  const name = "google.rpc.ErrorInfo";
  const field = (name: string, number: number, rest: Partial<ProtoField> = {}): ProtoField => {
    return { name, jsonName: name, number, cardinality: "implicit", type: stringType, ...rest };
  };
  const fields = [field("reason", 1), field("domain", 2), field("metadata", 3, { cardinality: "map", key: "string" })];
  const schema = { messages: new Map([[name, { name, fields }]]), enums: new Map(), services: new Map() };
  return createTypeRegistry(schema).getMessage(name)!;
})();
