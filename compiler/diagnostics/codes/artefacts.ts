/** Diagnostics of schemas that other notations cannot express. */
import type { DiagnosticTableEntry } from "./entry.js";

export const artefacts = {
  VC4010: {
    slug: "protobuf-name-twice",
    severity: "error",
    text: "cannot name {second} in protobuf: {first} has the name {name}",
    fix: "Rename one of them. All schema files share one protobuf package, in which capitals and underscores do not distinguish names.",
  },
  VC4011: {
    slug: "protobuf-value-twice",
    severity: "error",
    text: "cannot name {second} in protobuf: {first} has the name {name}, and the names of values are in the scope of their enum",
    fix: "Give one of them another name with `@name`, or rename one of the enums.",
  },
} as const satisfies Readonly<Record<string, DiagnosticTableEntry>>;
