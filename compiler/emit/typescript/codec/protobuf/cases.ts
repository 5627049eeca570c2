/**
 * Generates the code of a oneof that is flattened into a message: its cases are fields of the message, and at most one
 * of them is present.
 */
import type { MessageField, ValueForm } from "../../../../protobuf/form/form.js";
import { type Code, code, stringLiteral } from "../../../kit/index.js";
import { abiValue } from "../../abi-names.js";
import type { MemberItem, ProtoBody } from "./body.js";
import { writeOne } from "./writing.js";

/**
 * Writes the case of `cases` that is set.
 * @param isFirst whether the other cases of the oneof are checked, too
 */
export function writeCases(
  body: ProtoBody,
  { field, value }: MemberItem,
  cases: readonly MessageField[],
  isFirst: boolean,
): void {
  const { file, io: w } = body;
  const { form, presence } = field;
  const all = form.kind === "oneof" ? form.cases : [];
  const write = () =>
    file.block(code`switch (${value}.case)`, () => {
      writeCaseBranches(body, cases, value);
      const others = isFirst ? all.filter((one) => !cases.includes(one)) : [];
      for (const { property } of others) file.line(`case ${stringLiteral(property)}:`);
      if (others.length > 0) file.indented(() => file.line("break;"));
      if (!isFirst) return;
      file.line("default:");
      file.indented(() => file.line(code`${abiValue("checkUnknownCase")}(${w}, ${value});`));
    });
  if (presence === "demanded") write();
  else file.block(code`if (${value} !== ${presence === "optional" ? "undefined" : "null"})`, write);
}

/** Emits a `case` for each of these cases of the oneof `value`. */
export function writeCaseBranches(body: ProtoBody, cases: readonly MessageField[], value: Code): void {
  for (const field of cases) {
    body.file.line(`case ${stringLiteral(field.property)}:`);
    body.file.indented(() => {
      body.file.line(writeOne(body, field.form as ValueForm, field, code`${value}.value`));
      body.file.line("break;");
    });
  }
}
