/** Changes that are worth a look: the borders of the rules of the class DANGEROUS. */
import { type Case, tree, without } from "./case.js";

export const dangerous: readonly Case[] = [
  // 5070..
  {
    title: "VC5070 variant",
    older: 'export type C = { kind: "a" };\n',
    newer: 'export type C = { kind: "a" } | { kind: "b" };\n',
  },
  {
    title: "VC5070 case",
    older: "export type C = Oneof<{ a: Int32 }>;\n",
    newer: "export type C = Oneof<{ a: Int32; b: string }>;\n",
  },
  { title: "VC5070 field", older: tree("a: Int32;"), newer: tree("a: Int32;\n  b?: Int32;") },
  { title: "VC5071 literal", older: tree('a: "x";'), newer: tree('a: "x" | "y";') },
  { title: "VC5071 number", older: "export enum E { A = 0 }\n", newer: "export enum E { A = 0, B = 7 }\n" },
  {
    title: "VC5071 mixed",
    older: 'export enum E { A = 0, C = "c" }\n',
    newer: 'export enum E { A = 0, C = "c", B = "b" }\n',
  },
  { title: "VC5071 field", older: tree("a: Int32;"), newer: tree("a: Int32;\n  b?: Int32;") },
  {
    title: "VC5072 field",
    older: tree("/** @id 1 */ a?: Int32;"),
    newer: tree("/** @id 2 */ a?: Int32;"),
    edit: without("  1 a int32?\n"),
  },
  { title: "VC5072 renamed", older: tree("a?: Int32;"), newer: tree("/** @was a */ b?: Int32;") },

  {
    title: "VC5070 a third variant",
    older: 'export type C = { kind: "a" } | { kind: "b" };\n',
    newer: 'export type C = { kind: "a" } | { kind: "b" } | { kind: "c" };\n',
  },
];
