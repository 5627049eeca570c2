/**
 * The table of diagnostics: every code there is, with its texts. Codes are never reused. Names in braces are filled in;
 * `test/fixtures/diagnostics` has a case for every one of them, from which `docs/diagnostics.md` is made.
 *
 * VC10xx files and imports · VC11xx types · VC12xx declarations, actors, endpoints · VC13xx tags · VC20xx the lock ·
 * VC30xx generated files · VC40xx configuration
 */
export const table = {
  VC1001: { slug: "syntax", severity: "error", text: "invalid TypeScript: {message}" },
  VC1002: { slug: "type-error", severity: "error", text: "TypeScript refuses this: {message} (TS{number})" },
  VC1003: {
    slug: "import-not-found",
    severity: "error",
    text: 'cannot import from "{specifier}": there is no such file',
    fix: "Imports of other schema files are relative and end in .js: ./tree.js for tree.ts.",
  },
  VC1004: {
    slug: "import-of-other-file",
    severity: "error",
    text: 'cannot import from "{specifier}": {file} is no schema file',
    fix: "Move what is imported to a schema file, or add the file to `schemas` in the config.",
  },
  VC1005: {
    slug: "import-of-package",
    severity: "error",
    text: 'cannot import from "{specifier}": schema files import other schema files and "viceroy/schema" alone',
    fix: "Declare the type in a schema file.",
  },
  VC1006: {
    slug: "not-imported",
    severity: "error",
    text: "{name} is not imported",
    fix: 'Add `import type { {name} } from "viceroy/schema";`.',
  },
  VC1007: {
    slug: "no-schema-files",
    severity: "error",
    text: "no schema files: nothing matches {patterns}",
    fix: "Write a schema file, or correct `schemas` in the config.",
  },
  VC1008: {
    slug: "same-output",
    severity: "error",
    text: "cannot generate {output} from {file}: that file is taken by {other}",
    fix: "Rename the schema file.",
  },
  VC1009: {
    slug: "value-in-schema",
    severity: "warning",
    text: "{name} is a {what}: schema files hold types, and nothing is generated for it",
    fix: "Move it to another file.",
  },
  VC1010: { slug: "unreadable", severity: "error", text: "cannot read {file}: {why}" },

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

  VC1201: {
    slug: "declared-twice",
    severity: "error",
    text: "{name} is declared more than once",
    fix: "Merge the declarations; one name is one type.",
  },
  VC1202: {
    slug: "generated-name",
    severity: "error",
    text: "{second} would be called {name}, which is taken by {first}",
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
    text: "{owner}.{name} is a property: an actor has endpoints alone",
    fix: "Make it a method: `{name}(…): {type};`.",
  },
  VC1206: {
    slug: "overloaded-endpoint",
    severity: "error",
    text: "endpoint {owner}.{name} is overloaded",
    fix: "Give each signature a name of its own.",
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
    text: "{owner} takes any number of arguments: ...{name}",
    fix: "Take an array: `{name}: T[]`.",
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
    text: "endpoint {owner}.{name} is optional: an actor has all its endpoints",
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
    text: "actor {name} extends {base}, which is no actor",
    fix: "Let {base} extend `Actor`, or write its endpoints here.",
  },
  VC1216: {
    slug: "respond-port",
    severity: "error",
    text: "endpoint {owner}.{name} is marked @respond, but {why}",
    fix: "Take a `Port<T>` first and return `void`: the answer is what is sent to the port.",
  },
  VC1217: {
    slug: "extends-no-message",
    severity: "error",
    text: "{name} extends {base}, which has no fields to inherit",
    fix: "Extend interfaces and object types alone.",
  },

  VC1301: {
    slug: "unknown-tag",
    severity: "error",
    text: "unknown tag @{tag}: it looks like @{known}",
    fix: "Write `@{known}`.",
  },
  VC1302: {
    slug: "misplaced-tag",
    severity: "error",
    text: "@{tag} says nothing of {what}",
    fix: "Remove it: it belongs to {where}.",
  },
  VC1303: {
    slug: "tag-value",
    severity: "error",
    text: "invalid @{tag}: expected {expected}, got {value}",
    fix: "Write, for example, `@{tag} {example}`.",
  },
  VC1304: {
    slug: "tag-twice",
    severity: "error",
    text: "@{tag} stands here twice",
    fix: "Remove one.",
  },

  VC2001: {
    slug: "lock-version",
    severity: "error",
    text: 'cannot read the lock: expected "{expected}", got "{found}"',
    fix: "Use the version of Viceroy that wrote it, or restore the file from version control.",
  },
  VC2002: {
    slug: "lock-syntax",
    severity: "error",
    text: "cannot read the lock: {why}",
    fix: "The compiler writes this file. Restore the line from version control.",
  },
  VC2003: {
    slug: "lock-block-twice",
    severity: "error",
    text: "{what} stands in the lock twice: see line {other}",
    fix: "Keep the block that was there first; ids of the other one that are in use move to it.",
  },
  VC2004: {
    slug: "lock-id-twice",
    severity: "error",
    text: "id {id} belongs to both {first} and {second}",
    fix: "Two branches gave it at the same time: give the newer one the number after `next`, and raise `next`.",
  },
  VC2005: {
    slug: "lock-next",
    severity: "error",
    text: "next={next} of {of} would give an id again: {highest} is taken",
    fix: "Write next={after}.",
  },
  VC2006: {
    slug: "lock-missing",
    severity: "error",
    text: "{lock} is missing beside generated code: all ids would be given anew",
    fix: "Restore it from version control. If this is meant as a fresh start, remove the folder {out} too.",
  },
  VC2007: {
    slug: "ambiguous-rename",
    severity: "warning",
    text: "{declaration}.{removed} has gone and {declaration}.{added}, of the same type, has come: is it the same field?",
    fix: "If it is, write `@was {removed}` above {added}. If it is new, `npx viceroy compile` gives it an id of its own.",
  },
  VC2008: {
    slug: "id-changed",
    severity: "error",
    text: "@id {asked}: {member} has id {locked} already, and ids never change",
    fix: "Remove the tag, or write `@id {locked}`.",
  },
  VC2009: {
    slug: "id-taken",
    severity: "error",
    text: "@id {id} of {member}: it {holding} {holder}",
    fix: "Remove the tag, or choose another number.",
  },
  VC2010: {
    slug: "id-range",
    severity: "error",
    text: "@id {id} of {member}: ids are whole numbers from 1 to 536870911, except 19000 to 19999",
    fix: "Remove the tag, or choose another number.",
  },
  VC2011: {
    slug: "was-unknown",
    severity: "error",
    text: "@was {was} of {member}: there was no such name",
    fix: "Write its old name as it stands in the lock, or remove the tag.",
  },

  VC3001: {
    slug: "generated-differs",
    severity: "error",
    text: "{file} is not what the schemas say",
    fix: "Run `npx viceroy compile` and commit the result.",
  },
  VC3002: {
    slug: "generated-missing",
    severity: "error",
    text: "{file} is missing",
    fix: "Run `npx viceroy compile` and commit the result.",
  },
  VC3003: {
    slug: "generated-stale",
    severity: "error",
    text: "{file} is left over: its schema has gone",
    fix: "Run `npx viceroy compile`, which removes it, and commit the result.",
  },
  VC3004: {
    slug: "lock-differs",
    severity: "error",
    text: "{file} lacks ids that the schemas need",
    fix: "Run `npx viceroy compile` and commit the result.",
  },
  VC3005: {
    slug: "foreign-file",
    severity: "error",
    text: "cannot write {file}: a file that Viceroy did not generate is there",
    fix: "Move it away, or choose another `out` in the config.",
  },
  VC4001: { slug: "config", severity: "error", text: "{message}" },
  VC4002: {
    slug: "not-emitted",
    severity: "warning",
    text: "{artefact} is not written by this version: TypeScript alone is",
    fix: 'Leave "{artefact}" out of `emit` to be rid of this warning.',
  },
} as const satisfies Readonly<Record<string, TableEntry>>;

interface TableEntry {
  readonly slug: string;
  readonly severity: "error" | "warning";
  readonly text: string;
  readonly fix?: string;
}

export type DiagnosticCode = keyof typeof table;

/** Where the documentation of a code is found in `docs/diagnostics.md`. */
export function diagnosticAnchor(code: DiagnosticCode): string {
  return `${code.toLowerCase()}-${table[code].slug}`;
}
