/** Diagnostics of schemas that other notations cannot express. */
import type { DiagnosticTableEntry } from "./entry.js";

export const artefacts = {
  VC4010: {
    slug: "protobuf-name-twice",
    severity: "error",
    text: "{second} would be called {name} in protobuf, as {first} is",
    fix: "Rename one of them: all schema files share one package of protobuf, and capitals and underscores do not tell names apart there.",
  },
  VC4011: {
    slug: "protobuf-value-twice",
    severity: "error",
    text: "{second} would be called {name} in protobuf, as {first} is: there, the names of values stand beside their enum, not in it",
    fix: "Give one of them another name with `@name`, or rename one of the enums.",
  },
} as const satisfies Readonly<Record<string, DiagnosticTableEntry>>;
