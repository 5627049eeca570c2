/**
 * Generates the code of oneofs and unions that are messages of their own. The case that is set is the only field.
 * Fields that the schema does not know are kept as bytes.
 */
import type { Field, Shape, Type } from "../../../../model/type.js";
import { fieldsOf, type MessageField, type ValueForm } from "../../../../protobuf/form/form.js";
import {
  assignment,
  type Code,
  call,
  code,
  conditional,
  globalName,
  type LocalName,
  memberAccess,
  objectKey,
  objectLiteral,
  signature,
  stringLiteral,
  union,
} from "../../../kit/index.js";
import { abiType, abiValue } from "../../abi-names.js";
import { partHint } from "../lockstep/body.js";
import { codecOf, type ProtoBody, tagOf, unknownFields, withUnknown } from "./body.js";
import { writeCaseBranches } from "./cases.js";
import { readMessage, writeMessage } from "./message.js";
import { caseBranch, type ReadTarget, readLoop } from "./reading.js";

type Oneof = Extract<Shape, { kind: "oneof" }>;
type Union = Extract<Shape, { kind: "union" }>;

/** Returns the fields of an inline variant, or undefined for a variant that has a codec. */
export type InPlaceFields = (type: Type) => readonly Field[] | undefined;

interface VariantField {
  readonly field: MessageField;
  /** The fields of an inline variant. */
  readonly own: readonly Field[] | undefined;
}

export function writeOneof(body: ProtoBody, shape: Oneof, value: LocalName): void {
  const { file, io: w, index } = body;
  file.line(code`${w}.requireObject(${value});`);
  file.block(code`switch (${value}.case)`, () => {
    writeCaseBranches(body, fieldsOf({ kind: "declared", type: inline(shape), shape }, index), value);
    file.line("default:");
    file.indented(() => {
      file.line(code`${abiValue("writeUnknownVariant")}(${w}, "case", ${value});`);
      file.line("return;");
    });
  });
  file.line(code`${w}.unknown(${value}[${unknownFields}]);`);
}

export function readOneof(body: ProtoBody, shape: Oneof, { end, into }: ReadTarget): void {
  const { file, scope, io: r, index } = body;
  const [result, others] = [scope.name("result"), scope.name("others")];
  file.line(code`let ${result} = ${into};`);
  file.line(code`let ${others} = ${into}?.[${unknownFields}];`);
  const fields = fieldsOf({ kind: "declared", type: inline(shape), shape }, index);
  const branches = fields.map((field) => caseBranch(body, field, result));
  readLoop(body, end, branches, others);
  const whole = code`${result} ?? ${abiValue("readUnknownCase")}(${r}, ${others})`;
  file.line("return ", call(abiValue("withUnknown"), [whole, others]), ";");
}

export function writeUnion(body: ProtoBody, shape: Union, value: LocalName, own: InPlaceFields): void {
  const { file, scope, io: w } = body;
  const discriminant = stringLiteral(shape.discriminant);
  file.line(code`${w}.requireObject(${value});`);
  file.block(code`switch (${memberAccess(value, shape.discriminant)})`, () => {
    for (const { field, own: fields } of variantsOf(body, shape, own)) {
      const { property, number } = field;
      const tag = tagOf(number, 2);
      if (fields === undefined) {
        file.line(`case ${stringLiteral(property)}:`);
        file.indented(() => {
          file.line(call(code`${w}.message`, [tag, variantCodec(body, field), value]), ";");
          file.line("break;");
        });
        continue;
      }
      file.block(`case ${stringLiteral(property)}:`, () => {
        const start = scope.name("start");
        file.line(code`const ${start} = ${w}.begin(${tag});`);
        writeMessage({ ...body, hint: partHint(body.hint, property) }, fields, value);
        file.line(code`${w}.end(${start});`);
        file.line("break;");
      });
    }
    file.line("default:");
    file.indented(() => file.line(code`${abiValue("writeUnknownVariant")}(${w}, ${discriminant}, ${value});`));
  });
}

/** @param readers the functions for variants that are read in place */
export function readUnion(
  body: ProtoBody,
  shape: Union,
  { end, into }: ReadTarget,
  own: InPlaceFields,
  readers: ReadonlyMap<string, LocalName>,
): void {
  const { file, scope, io: r } = body;
  const [result, others] = [scope.name("result"), scope.name("others")];
  const discriminant = stringLiteral(shape.discriminant);
  file.line(code`let ${result} = ${into};`);
  file.line(code`let ${others}: ${globalName("Uint8Array")} | undefined;`);
  const branches = variantsOf(body, shape, own).map(({ field }) => {
    const { property, number } = field;
    const tag = stringLiteral(property);
    const is = code`${optionalMember(result, shape.discriminant)} === ${tag}`;
    const before = conditional(is, result, "undefined");
    const reader = readers.get(property);
    const read =
      reader === undefined
        ? objectLiteral([
            code`...${call(code`${r}.message`, [variantCodec(body, field), before])}`,
            code`${objectKey(shape.discriminant)}: ${tag}`,
          ])
        : call(reader, [r, before]);
    return { tag: tagOf(number, 2), statement: [assignment(result, read), ";"] };
  });
  readLoop(body, end, branches, others);
  const known = code`${result} !== undefined && ${result} !== ${into}`;
  const unknown = call(abiValue("readUnknownVariant"), [r, discriminant, into, others]);
  file.line("return ", conditional(known, result, unknown), ";");
}

/** Emits a function that reads a variant without a codec. */
export function emitVariantReader(
  body: ProtoBody,
  reader: LocalName,
  fields: readonly Field[],
  type: Code,
  constant: { readonly name: string; readonly value: string },
): void {
  const { file, scope, io: r } = body;
  const [end, into] = [scope.name("end"), scope.name("into")];
  const params = [code`${r}: ${abiType("ProtobufReader")}`, code`${into}: ${union([withUnknown(type), "undefined"])}`];
  file.block(["function ", reader, signature(params, type)], () => {
    file.line(code`const ${end} = ${r}.enter();`);
    readMessage(body, fields, { end, into, type, leaves: true }, constant);
  });
}

function variantsOf(body: ProtoBody, shape: Union, own: InPlaceFields): readonly VariantField[] {
  const fields = fieldsOf({ kind: "declared", type: inline(shape), shape }, body.index);
  return fields.map((field) => {
    const variant = shape.variants.find(({ tag }) => tag === field.property)!;
    return { field, own: own(variant.type) };
  });
}

function variantCodec(body: ProtoBody, field: MessageField): Code {
  const form = field.form as Extract<ValueForm, { kind: "message" }>;
  return codecOf(body, form.message, field.property);
}

function inline(shape: Oneof | Union): Extract<Type, { kind: "inline" }> {
  return { kind: "inline", shape };
}

/** Returns an optional member access: `value?.name`. */
function optionalMember(value: Code, name: string): Code {
  const plain = memberAccess("", name);
  return code`${value}?.${Array.isArray(plain) && plain[1] === "." ? name : plain}`;
}
