/** Diagnostics of schemas that Cap'n Proto cannot express. */
import type { DiagnosticTableEntry } from "./entry.js";

export const capnp = {
  VC4030: {
    slug: "capnp-handle",
    severity: "warning",
    text: "{member} is not part of the Cap'n Proto layout: ports, meshes, buffers and tensors are valid inside a running mesh only",
    fix: 'Do not use handles in types that are read in place, or remove "capnp" from `emit`.',
  },
  VC4031: {
    slug: "capnp-order",
    severity: "error",
    text: "@id {id} of {member}: id {highest} is already in use, and Cap'n Proto orders members by the time of their addition",
    fix: "Remove the tag, or choose a number above {highest}. A lower number would move the members after it.",
  },
  VC4032: {
    slug: "capnp-forgotten",
    severity: "error",
    text: "cannot keep the position of the removed member {member}: the size of its type {type} is unknown",
    fix: "Keep {type} in the schema and export it. The positions of all later members depend on its size.",
  },
  VC4033: {
    slug: "capnp-ambiguous",
    severity: "error",
    text: "cannot keep the position of the removed member {member}: several types have the name of its type {type}, and their sizes differ",
    fix: "Give each of them a different name. The positions of all later members depend on the size of the type.",
  },
} as const satisfies Readonly<Record<string, DiagnosticTableEntry>>;
