/** A part of a row in a generated method: its place, and the local variable that holds its value. */
import { code, type LocalName } from "../../kit/index.js";
import type { Body } from "./body.js";
import type { Place, Row } from "./row.js";

export interface RowItem {
  readonly name: string;
  readonly place: Place;
  readonly value: LocalName;
}

/** The variables for the bytes of bits. */
export function bitNames({ scope }: Body, row: Row): readonly LocalName[] {
  return Array.from({ length: row.bytes }, (_, i) => scope.name(row.bytes === 1 ? "bits" : `bits${i}`));
}

export function declareView({ file, scope, io }: Body): LocalName {
  const view = scope.name("view");
  file.line(code`const ${view} = ${io}.view;`);
  return view;
}
