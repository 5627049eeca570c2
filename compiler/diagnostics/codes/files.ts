/** Diagnostics of schema files and their imports. */
import type { DiagnosticTableEntry } from "./entry.js";

export const files = {
  VC1001: { slug: "syntax", severity: "error", text: "invalid TypeScript: {message}" },
  VC1002: {
    slug: "type-error",
    severity: "error",
    text: "TypeScript reports an error: {message} (TS{number})",
    fix: "{hint}",
  },
  VC1003: {
    slug: "import-not-found",
    severity: "error",
    text: 'cannot import from "{specifier}": there is no such file',
    fix: "Imports of other schema files are relative and end in .js: ./tree.js for tree.ts.",
  },
  VC1004: {
    slug: "import-of-other-file",
    severity: "error",
    text: 'cannot import from "{specifier}": {file} is not a schema file',
    fix: "Move the declaration to a schema file, or add the file to `schemas` in the config.",
  },
  VC1005: {
    slug: "import-of-package",
    severity: "error",
    text: 'cannot import from "{specifier}": {why}',
    fix: "{hint}",
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
    text: "cannot find schema files: no file matches {patterns}",
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
    text: "{name} is a {what}: schema files contain types, and no code is generated for it",
    fix: "Move it to another file.",
  },
  VC1010: { slug: "unreadable", severity: "error", text: "cannot read {file}: {why}" },
  VC1011: {
    slug: "unclear-base",
    severity: "warning",
    text: "cannot tell whether {name} is an actor: its base class is a computed expression, so the class is not registered",
    fix: "Extend a class by its name, or pass it to a mixin: `extends Logged(CounterActor)`.",
  },
  VC1012: {
    slug: "actor-of-unusable-package",
    severity: "error",
    text: "cannot register the actors of {file}: {why}",
    fix: "{hint}",
  },
  VC1013: {
    slug: "unresolved-base",
    severity: "warning",
    text: "cannot tell whether {file} has actors: {why}",
    fix: "{hint}",
  },
} as const satisfies Readonly<Record<string, DiagnosticTableEntry>>;
