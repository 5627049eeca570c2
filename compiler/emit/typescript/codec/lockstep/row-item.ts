/** A part of a row in a generated method: its position and the local variable of its value. */
import { code, type LocalName } from "../../../kit/index.js";
import type { MethodBody } from "./body.js";
import type { FieldSlot, Row } from "./row.js";

export interface RowItem {
  readonly name: string;
  readonly slot: FieldSlot;
  readonly value: LocalName;
}

/** Returns the variables of the bytes that hold bits. */
export function bitNames({ scope }: MethodBody, row: Row): readonly LocalName[] {
  return Array.from({ length: row.bitBytes }, (_, i) => scope.name(row.bitBytes === 1 ? "bits" : `bits${i}`));
}

export function declareView({ file, scope, io }: MethodBody): LocalName {
  const view = scope.name("view");
  file.line(code`const ${view} = ${io}.view;`);
  return view;
}
