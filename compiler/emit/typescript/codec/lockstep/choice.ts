/**
 * Generates the code of unions and oneofs. The slot holds the number of the variant, and the variant follows with a
 * slot of its own.
 */
import type { Field, Shape, Type } from "../../../../model/type.js";
import { code, memberAccess, objectLiteral, stringLiteral } from "../../../kit/index.js";
import { type MethodBody, partHint } from "./body.js";
import { indexSize, inPropertyOrder, type LockstepLayouts } from "./lockstep-layouts.js";
import { readFields, writeFields } from "./message.js";
import { readElement, readVarying } from "./reading.js";
import { writeElement, writeVarying } from "./writing.js";

type Choice = Extract<Shape, { kind: "union" | "oneof" }>;

/** A variant and the value that identifies it. */
interface ChoiceCase {
  readonly tag: string;
  readonly type: Type;
}

export function writeChoice(body: MethodBody, shape: Choice): void {
  const { file, io: w, value } = body;
  const cases = casesOf(shape);
  file.block(code`switch (${memberAccess(value, discriminantOf(shape))})`, () => {
    for (const [i, variant] of cases.entries()) {
      file.block(code`case ${stringLiteral(variant.tag)}:`, () => {
        writeIndex(body, cases.length, i);
        if (shape.kind === "oneof") writeCase(body, variant);
        else writeVariant(body, shape, variant);
        file.line("break;");
      });
    }
    file.line("default:");
    file.indented(() => file.line(code`${w}.refuse();`));
  });
}

function writeCase(body: MethodBody, { tag, type }: ChoiceCase): void {
  const { file, scope, io: w, value, layouts } = body;
  const { core, nullable } = layouts.peel(type);
  const hint = partHint(body.hint, tag);
  const item = scope.name("item");
  file.line(code`const ${item} = ${value}.value;`);
  if (!nullable) {
    writeVarying(body, core, item, hint);
    return;
  }
  const slot = scope.name("slot");
  file.line(code`const ${slot} = ${w}.reserve(1);`);
  writeElement(body, type, slot, item, hint);
}

function writeVariant(body: MethodBody, shape: Choice, { tag, type }: ChoiceCase): void {
  const { file, scope, io: w, value, layouts } = body;
  const fields = inPlaceFields(layouts, shape, type);
  const { core } = layouts.peel(type);
  if (fields === undefined) {
    writeVarying(body, core, value, partHint(body.hint, tag));
    return;
  }
  const at = scope.name("slot");
  file.line(code`const ${at} = ${w}.reserve(${String(layouts.row(fields).size)});`);
  writeFields({ ...body, at, hint: partHint(body.hint, tag) }, fields);
}

export function readChoice(body: MethodBody, shape: Choice): void {
  const { file, io: r, at } = body;
  const cases = casesOf(shape);
  const number = cases.length <= 256 ? code`${r}.view.getUint8(${at})` : code`${r}.view.getUint16(${at}, true)`;
  file.block(code`switch (${number})`, () => {
    for (const [i, variant] of cases.entries()) {
      file.block(code`case ${String(i)}:`, () => {
        if (shape.kind === "oneof") readCase(body, variant);
        else readVariant(body, shape, variant);
      });
    }
    file.line("default:");
    file.indented(() => file.line(code`return ${r}.refuse();`));
  });
}

function readCase(body: MethodBody, { tag, type }: ChoiceCase): void {
  const { file, scope, io: r, layouts } = body;
  const { core, nullable } = layouts.peel(type);
  const hint = partHint(body.hint, tag);
  const value = scope.name("item");
  const read = nullable ? readElement(body, type, code`${r}.take(1)`, hint) : readVarying(body, core, hint);
  file.line(code`const ${value} = ${read};`);
  body.emitReturn(objectLiteral([`case: ${stringLiteral(tag)}`, code`value: ${value}`]));
}

function readVariant(body: MethodBody, shape: Choice, { tag, type }: ChoiceCase): void {
  const { file, scope, io: r, layouts } = body;
  const fields = inPlaceFields(layouts, shape, type);
  const hint = partHint(body.hint, tag);
  if (fields === undefined) {
    body.emitReturn(readVarying(body, layouts.peel(type).core, hint));
    return;
  }
  const at = scope.name("slot");
  file.line(code`const ${at} = ${r}.take(${String(layouts.row(fields).size)});`);
  const discriminant = discriminantOf(shape);
  const variant = { ...body, at, hint, type: body.variants.get(tag) ?? "" };
  readFields(variant, fields, { name: discriminant, value: tag });
}

/** Returns the variants of a union whose types need names, which are the inline ones. */
export function namedVariants(layouts: LockstepLayouts, shape: Shape | Type): readonly string[] {
  if (shape.kind !== "union") return [];
  return shape.variants.filter(({ type }) => inPlaceFields(layouts, shape, type) !== undefined).map(({ tag }) => tag);
}

/**
 * Returns the fields of an inline variant, or undefined for a variant with a codec, which writes its discriminant, too.
 */
export function inPlaceFields(layouts: LockstepLayouts, shape: Choice, type: Type): readonly Field[] | undefined {
  const { core } = layouts.peel(type);
  if (core.kind !== "inline" && core.kind !== "ref") return undefined;
  const variant = layouts.shape(core);
  if (variant.kind !== "message") return undefined;
  const isWhole = variant.fields.some(({ name }) => name === discriminantOf(shape));
  return isWhole ? undefined : inPropertyOrder(variant.fields);
}

function discriminantOf(shape: Choice): string {
  return shape.kind === "union" ? shape.discriminant : "case";
}

function casesOf(shape: Choice): readonly ChoiceCase[] {
  const cases = shape.kind === "oneof" ? shape.cases : shape.variants;
  const named = cases.map((variant) => ({ name: "tag" in variant ? variant.tag : variant.name, type: variant.type }));
  return inPropertyOrder(named).map(({ name, type }) => ({ tag: name, type }));
}

function writeIndex({ file, io: w, at }: MethodBody, count: number, index: number): void {
  if (indexSize(count) === 1) file.line(code`${w}.view.setUint8(${at}, ${String(index)});`);
  else file.line(code`${w}.view.setUint16(${at}, ${String(index)}, true);`);
}
