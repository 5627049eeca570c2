/** Types that cannot be sent, or not so. */
import type { TableEntry } from "./entry.js";

export const types = {
  VC1101: {
    slug: "no-data-type",
    severity: "error",
    text: "cannot send {type}: it does not say what a value looks like",
    fix: "{hint}",
  },
  VC1102: {
    slug: "function",
    severity: "error",
    text: "cannot send a function: {type}",
    fix: "To be called back, take a `Port<T>`, or a mesh of actors.",
  },
  VC1103: {
    slug: "class",
    severity: "error",
    text: "cannot send instances of class {name}",
    fix: "Declare an interface with the fields to send.",
  },
  VC1104: { slug: "builtin", severity: "error", text: "cannot send {type}: {reason}", fix: "{hint}" },
  VC1105: {
    slug: "bigint-without-width",
    severity: "error",
    text: "cannot send bigint: it has no width",
    fix: "Use `Int64` or `Uint64` of viceroy/schema.",
  },
  VC1106: {
    slug: "undefined-as-value",
    severity: "error",
    text: "cannot send undefined: {type} stands where nothing can be absent",
    fix: "Use `null`; fields and parameters can be optional: `name?: T`.",
  },
  VC1107: {
    slug: "mixed-union",
    severity: "error",
    text: "cannot tell the variants of {type} apart",
    fix: "Name them: `Oneof<{ {cases} }>`.",
  },
  VC1108: {
    slug: "no-discriminant",
    severity: "error",
    text: "cannot tell the variants of {type} apart: {why}",
    fix: 'Give each of them a property like `kind: "…"`, with a string of its own.',
  },
  VC1109: {
    slug: "lone-literal",
    severity: "error",
    text: "cannot send the literal type {type}: {why}",
    fix: "{hint}",
  },
  VC1110: {
    slug: "unresolved-computation",
    severity: "error",
    text: "cannot resolve {type}: {why}",
    fix: "Write the resulting type out.",
  },
  VC1111: {
    slug: "method-in-message",
    severity: "error",
    text: "{owner}.{name} is a method: messages hold data",
    fix: "Remove it; or, if {owner} is an actor, let it extend `Actor`.",
  },
  VC1112: {
    slug: "index-signature",
    severity: "error",
    text: "cannot express the index signature of {owner}: {why}",
    fix: "{hint}",
  },
  VC1113: {
    slug: "member-name",
    severity: "error",
    text: "cannot express a member of {owner}: {why}",
    fix: "Give it an ordinary name.",
  },
  VC1114: {
    slug: "intersection",
    severity: "error",
    text: "cannot express {type}: {why}",
    fix: "Write the resulting type out.",
  },
  VC1115: {
    slug: "stream-as-value",
    severity: "error",
    text: "{type} stands where a value is due: streams are what endpoints return",
    fix: "Take a `Port<T>` to which any number of values can be sent, or an array.",
  },
  VC1116: {
    slug: "oneof-cases",
    severity: "error",
    text: "cannot express {type}: {why}",
    fix: "Write the cases as properties: `Oneof<{ a: Uint32; b: string }>`.",
  },
  VC1117: {
    slug: "mesh-of-no-actor",
    severity: "error",
    text: "cannot make a mesh of {type}: it is no actor",
    fix: "Name an exported interface that extends `Actor`.",
  },
  VC1118: {
    slug: "dimension-name",
    severity: "error",
    text: "invalid dimension name {name}: expected letters, digits and underscores, a digit not first",
    fix: "{hint}",
  },
  VC1119: {
    slug: "tuple-rest",
    severity: "error",
    text: "cannot express {type}: {why}",
    fix: "Put the rest element last, once: `[A, B, ...C[]]`.",
  },
  VC1120: {
    slug: "actor-without-interface",
    severity: "error",
    text: "cannot send {type}: it says nothing of the actor's endpoints",
    fix: "Name the actor's interface, or `Mesh<…>` of it.",
  },
  VC1121: {
    slug: "contains-itself",
    severity: "error",
    text: "{name} can never be built: it contains itself through {path}",
    fix: "Make one of these fields optional, nullable or an array.",
  },
  VC1122: {
    slug: "endless-generic",
    severity: "error",
    text: "{name} has no end: each instance needs another one of it",
    fix: "Refer to itself with its own type parameters alone.",
  },
  VC1123: {
    slug: "enum-value",
    severity: "error",
    text: "cannot express {owner}.{name}: {why}",
    fix: "Give every member of the enum a constant value of its own.",
  },
} as const satisfies Readonly<Record<string, TableEntry>>;
