/**
 * The table of diagnostics: all codes with their texts. Codes are never reused. Names in braces are replaced by
 * parameters. `test/fixtures/diagnostics` has a case for every code, and `docs/reference/diagnostics.md` is generated
 * from these cases.
 *
 * VC10xx files and imports · VC11xx types · VC12xx declarations, actors, endpoints · VC13xx tags · VC20xx the lock ·
 * VC30xx generated files · VC40xx configuration and other notations
 */
import { artefacts } from "./codes/artefacts.js";
import { capnp } from "./codes/capnp.js";
import { declarations } from "./codes/declarations.js";
import { files } from "./codes/files.js";
import { project } from "./codes/project.js";
import { types } from "./codes/types.js";

export const diagnosticTable = { ...files, ...types, ...declarations, ...project, ...artefacts, ...capnp } as const;

/** The codes of all diagnostics. Codes are never reused. */
export type DiagnosticCode = keyof typeof diagnosticTable;
