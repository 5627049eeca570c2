/** Turns clashes of protobuf names into diagnostics. */
import { type Diagnostic, diagnostic } from "../diagnostics/index.js";
import type { LoweredSchema } from "./lower/lowered-schema.js";

export function protoClashDiagnostics({ clashes }: LoweredSchema): readonly Diagnostic[] {
  return clashes.map(({ kind, name, first, second, at }) =>
    diagnostic(kind === "type" ? "VC4010" : "VC4011", at, { name, first, second }),
  );
}
