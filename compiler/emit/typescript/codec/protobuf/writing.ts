/**
 * Generates statements that write the members of a message: nothing for a default value, otherwise one or several
 * fields.
 */
import type { FieldForm, MessageField, ValueForm } from "../../../../protobuf/form/form.js";
import { type Code, call, code, group, ifStatement, indent, line } from "../../../kit/index.js";
import { abiValue } from "../../abi-names.js";
import { partHint, typedArrayClass } from "../lockstep/body.js";
import { codecOf, type MemberItem, type ProtoBody, tagOf } from "./body.js";
import { isClamped, isNumeric, isWritten, packedMethod, putMethod, wireTypeOf, zeroOf } from "./scalar.js";

type Collection = Extract<FieldForm, { kind: "repeated" | "map" }>;

export function writeMember(body: ProtoBody, { field, value }: MemberItem): void {
  const { file } = body;
  const { form } = field;
  if (form.kind === "repeated" || form.kind === "map") {
    writeCollection(body, field, form, value);
    return;
  }
  if (form.kind === "oneof") throw new Error("the cases of a oneof are written one by one");
  const test = testOf(field, form, value);
  const statement = writeOne(body, form, field, value);
  file.line(test === undefined ? statement : ifStatement(test, statement));
}

/** Returns the condition under which the member is written, or undefined if it is always written. */
function testOf({ presence }: MessageField, form: ValueForm, value: Code): Code | undefined {
  switch (presence) {
    case "optional":
      return code`${value} !== undefined`;
    case "nullable":
      return code`${value} !== null`;
    case "implicit":
      if (form.kind === "scalar") return isWritten(form.scalar, isClamped(form), value);
      return form.kind === "enum" ? code`${zeroable(form, value)} !== ${zeroOf(form)}` : undefined;
    default:
      return undefined;
  }
}

/** Returns a value that can be compared with 0, which need not be a member of the enum. */
function zeroable(form: Extract<ValueForm, { kind: "enum" }>, value: Code): Code {
  const hasZero = !isNumeric(form) || form.shape.values.some((item) => item.value === 0);
  return hasZero ? value : code`(${value} as number)`;
}

/** Returns a statement that writes one value with its tag. */
export function writeOne(body: ProtoBody, form: ValueForm, field: MessageField, value: Code): Code {
  const { io: w } = body;
  const tag = tagOf(field.number, wireTypeOf(form));
  switch (form.kind) {
    case "scalar":
      return [call(code`${w}.${putMethod(form.scalar, isClamped(form))}`, [tag, value]), ";"];
    case "enum":
      if (isNumeric(form)) return [call(code`${w}.int32`, [tag, value]), ";"];
      return [call(code`${w}.enumeration`, [tag, enumCodec(body, form, field), value]), ";"];
    case "message":
      if (form.message.kind === "timestamp") return [call(code`${w}.date`, [tag, value]), ";"];
      return [call(code`${w}.message`, [tag, codecOf(body, form.message, field.property), value]), ";"];
  }
}

export function enumCodec(body: ProtoBody, form: Extract<ValueForm, { kind: "enum" }>, field: MessageField): Code {
  return body.codecs.reference(form.type, partHint(body.hint, field.property));
}

function writeCollection(body: ProtoBody, field: MessageField, form: Collection, value: Code): void {
  const { file, io: w, codecs, hint } = body;
  const packed = tagOf(field.number, 2);
  if (form.type.kind === "typedArray") {
    file.line(call(code`${w}.typed`, [packed, typedArrayClass(form.type), value]), ";");
  } else if (form.kind === "map" || form.type.kind !== "array") {
    const codec = codecs.standIn(form.type, partHint(hint, field.property));
    file.line(call(abiValue("writeCollection"), [w, String(field.number), codec, value]), ";");
  } else writeArray(body, field, form.element, value);
}

function writeArray(body: ProtoBody, field: MessageField, element: ValueForm, value: Code): void {
  const { file, io: w } = body;
  const packed = tagOf(field.number, 2);
  if (field.unpacked) writeEach(body, field, element, value);
  else if (element.kind === "scalar" && packedMethod(element.scalar) !== undefined) {
    file.line(call(code`${w}.${packedMethod(element.scalar)!}`, [packed, value]), ";");
  } else if (element.kind === "enum") {
    const numbers = isNumeric(element);
    const method = numbers ? "packedInt32" : "packedEnumeration";
    const codec = numbers ? [] : [enumCodec(body, element, field)];
    file.line(call(code`${w}.${method}`, [packed, ...codec, value]), ";");
  } else writeEach(body, field, element, value);
}

/** Writes a field for each element. */
function writeEach(body: ProtoBody, field: MessageField, element: ValueForm, value: Code): void {
  const { file, scope, io: w } = body;
  const item = scope.name("item");
  file.line(code`${w}.requireArray(${value});`);
  const head = code`for (const ${item} of ${value})`;
  file.line(group([head, indent([line, writeOne(body, element, field, item)])]));
}
