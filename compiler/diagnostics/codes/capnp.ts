/** Diagnostics of schemas that Cap'n Proto cannot express. */
import type { DiagnosticTableEntry } from "./entry.js";

export const capnp = {
  VC4030: {
    slug: "capnp-handle",
    severity: "warning",
    text: "{member} is left out of the Cap'n Proto layout: ports, meshes, buffers and tensors mean something inside a running mesh alone",
    fix: 'Keep handles out of types that are read in place, or leave "capnp" out of `emit`.',
  },
  VC4031: {
    slug: "capnp-order",
    severity: "error",
    text: "@id {id} of {member}: {highest} is there already, and Cap'n Proto numbers members in the order in which they come",
    fix: "Remove the tag, or choose a number above {highest}: else all members behind it would move.",
  },
  VC4032: {
    slug: "capnp-forgotten",
    severity: "error",
    text: "cannot keep the place of {member}, which is no more: nobody knows how large its type {type} was",
    fix: "Keep {type} in the schema, exported: the places of all members behind it depend on it.",
  },
  VC4033: {
    slug: "capnp-ambiguous",
    severity: "error",
    text: "cannot keep the place of {member}, which is no more: several types are called as its type {type} was, and they differ in size",
    fix: "Give each of them a name of its own: the places of all members behind it depend on which it was.",
  },
} as const satisfies Readonly<Record<string, DiagnosticTableEntry>>;
