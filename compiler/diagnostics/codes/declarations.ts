/** Diagnostics of declarations, actors, endpoints and their tags. */
import type { DiagnosticTableEntry } from "./entry.js";

export const declarations = {
  VC1201: {
    slug: "declared-twice",
    severity: "error",
    text: "{name} is declared more than once",
    fix: "Merge the declarations. A name can belong to one type only.",
  },
  VC1202: {
    slug: "generated-name",
    severity: "error",
    text: "cannot generate {second}: the name {name} is taken by {first}",
    fix: "Rename one of the two.",
  },
  VC1203: {
    slug: "actor-not-exported",
    severity: "error",
    text: "{name} is an actor that is not exported",
    fix: "Write `export interface {name}`.",
  },
  VC1204: {
    slug: "generic-actor",
    severity: "error",
    text: "actor {name} is generic: its messages must be known when it is compiled",
    fix: "Declare one actor for each type; they can extend a common one.",
  },
  VC1205: {
    slug: "actor-property",
    severity: "error",
    text: "{owner}.{name} is a property: an actor can only have endpoints",
    fix: "Make it a method: `{name}(…): {type};`.",
  },
  VC1206: {
    slug: "overloaded-endpoint",
    severity: "error",
    text: "endpoint {owner}.{name} is overloaded",
    fix: "Give each signature a different name.",
  },
  VC1207: {
    slug: "reserved-endpoint",
    severity: "error",
    text: "endpoint {owner}.{name} has a reserved name: {why}",
    fix: "Rename it, for example to `{other}`.",
  },
  VC1208: {
    slug: "generic-endpoint",
    severity: "error",
    text: "endpoint {owner}.{name} is generic: its messages must be known when it is compiled",
    fix: "Write an endpoint for each type.",
  },
  VC1209: {
    slug: "rest-parameter",
    severity: "error",
    text: "{owner} has a rest parameter: ...{name}",
    fix: "Use an array: `{name}: T[]`.",
  },
  VC1210: {
    slug: "parameter-order",
    severity: "error",
    text: "parameter {name} of {owner} is required, but follows an optional one",
    fix: "Put optional parameters last.",
  },
  VC1211: {
    slug: "parameter-name",
    severity: "error",
    text: "cannot express a parameter of {owner}: {why}",
    fix: "Give it an ordinary name.",
  },
  VC1212: {
    slug: "endpoint-result",
    severity: "error",
    text: "endpoint {owner}.{name} returns {type}: {why}",
    fix: "{hint}",
  },
  VC1213: {
    slug: "optional-endpoint",
    severity: "error",
    text: "endpoint {owner}.{name} is optional: an actor implements all its endpoints",
    fix: "Write `{name}(…)`, without the question mark.",
  },
  VC1214: {
    slug: "actor-arguments",
    severity: "error",
    text: "cannot express the constructor's arguments of {owner}: {why}",
    fix: "Write them as a labelled tuple: `Actor<[initial: Int32, step?: Int32]>`.",
  },
  VC1215: {
    slug: "actor-extends",
    severity: "error",
    text: "actor {name} extends {base}, which is not an actor",
    fix: "Let {base} extend `Actor`, or write its endpoints here.",
  },
  VC1216: {
    slug: "respond-port",
    severity: "error",
    text: "endpoint {owner}.{name} is marked @respond, but {why}",
    fix: "Use a `Port<T>` as the first parameter and return `void`. The answer is sent to the port.",
  },
  VC1217: {
    slug: "extends-no-message",
    severity: "error",
    text: "{name} extends {base}, which has no fields to inherit",
    fix: "Extend only interfaces and object types.",
  },
  VC1218: {
    slug: "propagate-tensors",
    severity: "error",
    text: "endpoint {owner}.{name} is marked @propagate, but {why}",
    fix: "Return `Tensor`, or an array or a tuple of them, or remove the tag.",
  },
  VC1219: {
    slug: "actor-in-namespace",
    severity: "error",
    text: "cannot declare actor {name} in a namespace: an actor is a service in protobuf, and services do not nest",
    fix: "Declare it at the top level of the file: `export interface {simple} extends Actor`. Its messages can stay in the namespace.",
  },
  VC1220: {
    slug: "nested-name-of-member",
    severity: "error",
    text: "cannot declare {name}: {member} has an inline type, and both would have the same name in the lock",
    fix: "Rename one of the two, or declare a named type for {member}.",
  },
  VC1301: {
    slug: "unknown-tag",
    severity: "error",
    text: "unknown tag @{tag}: it is similar to @{known}",
    fix: "Write `@{known}`.",
  },
  VC1302: {
    slug: "misplaced-tag",
    severity: "error",
    text: "@{tag} does not apply to {what}",
    fix: "Remove the tag, or move it to {where}.",
  },
  VC1303: {
    slug: "tag-value",
    severity: "error",
    text: "invalid @{tag}: expected {expected}, got {value}",
    fix: "{advice}",
  },
  VC1304: {
    slug: "tag-twice",
    severity: "error",
    text: "@{tag} is repeated",
    fix: "Remove one of the two tags.",
  },
} as const satisfies Readonly<Record<string, DiagnosticTableEntry>>;
