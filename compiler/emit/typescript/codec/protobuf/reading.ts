/**
 * Generates the code that reads the members of a message. Each member has a variable. A loop over the fields, which can
 * have any order, fills the variables, and the code after the loop completes them.
 */

import type { Type } from "../../../../model/type.js";
import type { FieldForm, MessageField, ValueForm } from "../../../../protobuf/form/form.js";
import {
  assignment,
  type Code,
  call,
  code,
  conditional,
  globalName,
  ifStatement,
  type LocalName,
  objectLiteral,
  property,
  stringLiteral,
} from "../../../kit/index.js";
import { abiValue } from "../../abi-names.js";
import { partHint, typedArrayClass } from "../lockstep/body.js";
import { codecOf, type MemberItem, type ProtoBody, tagOf } from "./body.js";
import { defaultOf, getMethod, isClamped, isNumeric, packedMethod, wireTypeOf, zeroOf } from "./scalar.js";
import { enumCodec } from "./writing.js";

type Collection = Extract<FieldForm, { kind: "repeated" | "map" }>;

/** The variables and the type of a method that reads a message. */
export interface ReadTarget {
  readonly end: LocalName;
  /** The earlier value to merge into, or undefined. */
  readonly into: LocalName;
  /** The type of the value, as code. */
  readonly type: Code;
  /** Whether the method itself leaves the message that it has entered. */
  readonly leaves?: boolean;
}

/** A `case` of the switch over tags, with the statement that processes the field. */
interface Branch {
  readonly tag: string;
  readonly statement: Code;
  /** A statement that precedes the main statement. */
  readonly first?: Code;
}

/** Emits the loop. `others` is the variable for unknown fields. Without it, they are skipped. */
export function readLoop(body: ProtoBody, end: Code, branches: readonly Branch[], others: Code | undefined): void {
  const { file, scope, io: r } = body;
  const tag = scope.name("tag");
  file.block(code`while (${r}.position < ${end})`, () => {
    file.line(code`const ${tag} = ${r}.tag();`);
    const other = others === undefined ? code`${r}.skip(${tag});` : code`${others} = ${r}.unknown(${tag}, ${others});`;
    if (branches.length === 0) {
      file.line(other);
      return;
    }
    file.block(code`switch (${tag})`, () => {
      for (const { tag: value, first, statement } of branches) {
        file.line(`case ${value}:`);
        file.indented(() => {
          if (first !== undefined) file.line(first);
          file.line(statement);
          file.line("break;");
        });
      }
      file.line("default:");
      file.indented(() => file.line(other));
    });
  });
}

export function branchesOf(body: ProtoBody, item: MemberItem): readonly Branch[] {
  const { field, value } = item;
  const { form } = field;
  if (form.kind === "oneof") return form.cases.map((one) => caseBranch(body, one, value));
  if (form.kind === "repeated" || form.kind === "map") return collectionBranches(body, field, form, value);
  const before = field.presence === "nullable" ? code`${value} ?? undefined` : value;
  return [setter(field, form, value, readOne(body, form, field, before))];
}

function setter({ number }: MessageField, form: ValueForm, value: Code, read: Code): Branch {
  return { tag: tagOf(number, wireTypeOf(form)), statement: [assignment(value, read), ";"] };
}

/**
 * Returns the branch of a case of a oneof. It assigns `{ case, value }` and merges into the value that `oneof` holds.
 */
export function caseBranch(body: ProtoBody, field: MessageField, oneof: Code): Branch {
  const form = field.form as ValueForm;
  const tag = stringLiteral(field.property);
  const before = conditional(code`${oneof}?.case === ${tag}`, code`${oneof}.value`, "undefined");
  const value = readOne(body, form, field, form.kind === "message" ? before : "undefined");
  return setter(field, form, oneof, objectLiteral([`case: ${tag}`, property("value", value)]));
}

/**
 * Returns an expression that reads one value after its tag.
 * @param into the value into which a message is merged
 */
export function readOne(body: ProtoBody, form: ValueForm, field: MessageField, into: Code): Code {
  const { io: r, types } = body;
  switch (form.kind) {
    case "scalar":
      return code`${r}.${getMethod(form.scalar, isClamped(form))}()`;
    case "enum":
      if (isNumeric(form)) return code`${r}.int32() as ${types.type(form.type)}`;
      return call(code`${r}.enumeration`, [enumCodec(body, form, field)]);
    case "message":
      if (form.message.kind === "timestamp") return call(code`${r}.date`, [into]);
      return call(code`${r}.message`, [codecOf(body, form.message, field.property), into]);
  }
}

function collectionBranches(body: ProtoBody, field: MessageField, form: Collection, value: Code): readonly Branch[] {
  const { io: r, codecs, hint } = body;
  const branch = (wire: number, statement: Code): Branch => ({ tag: tagOf(field.number, wire), statement });
  if (form.type.kind === "typedArray") {
    const type = typedArrayClass(form.type);
    const read = (method: string) => [assignment(value, call(code`${r}.${method}`, [type, value])), ";"];
    const { element } = form as Extract<FieldForm, { kind: "repeated" }>;
    return [branch(2, read("typed")), branch(wireTypeOf(element), read("typedElement"))];
  }
  if (form.kind === "map" || form.type.kind !== "array") {
    const codec = codecs.standIn(form.type, partHint(hint, field.property));
    const read = (wire: number) =>
      branch(wire, [assignment(value, call(abiValue("readCollection"), [r, codec, String(wire), value])), ";"]);
    const wire = form.kind === "map" ? 2 : wireTypeOf(form.element);
    return wire === 2 ? [read(2)] : [read(2), read(wire)];
  }
  return arrayBranches(body, field, form.element, value);
}

function arrayBranches(body: ProtoBody, field: MessageField, element: ValueForm, value: Code): readonly Branch[] {
  const push = [call(code`${value}.push`, [readOne(body, element, field, "undefined")]), ";"];
  const one: Branch = { tag: tagOf(field.number, wireTypeOf(element)), statement: push };
  if (!isPacked(element)) return [one];
  const read = readPacked(body, field, element, value);
  return [
    { tag: tagOf(field.number, 2), statement: [assignment(value, read), ";"] },
    { ...one, first: code`${value} ??= [];` },
  ];
}

/**
 * Returns an expression that reads a packed field and appends its elements to `value`. The first list is allocated with
 * the correct size.
 */
function readPacked(body: ProtoBody, field: MessageField, element: Packed, value: Code): Code {
  const { io: r, types } = body;
  if (element.kind === "scalar") return call(code`${r}.${packedMethod(element.scalar)!}`, [value]);
  if (!isNumeric(element)) {
    return call(code`${r}.packedEnumeration`, [enumCodec(body, element, field), value]);
  }
  const list: Type = { kind: "array", element: element.type, readonly: false };
  return code`${r}.packedInt32(${value}) as ${types.type(list)}`;
}

type Packed = Exclude<ValueForm, { kind: "message" }>;

function isPacked(element: ValueForm): element is Packed {
  return element.kind === "enum" || (element.kind === "scalar" && packedMethod(element.scalar) !== undefined);
}

/** Declares the variable of a member with its initial value. */
export function declareMember(body: ProtoBody, { field, value, type }: MemberItem): void {
  const { file, codecs, hint } = body;
  const { form, presence } = field;
  const held = () => codecs.type(type, partHint(hint, field.property));
  const declare = (as: Code, initial?: Code) =>
    file.line(initial === undefined ? code`let ${value}: ${as}` : assignment(code`let ${value}: ${as}`, initial), ";");
  if (presence === "nullable") declare(code`${held()} | null`, "null");
  else if (isPushed(form)) declare(held(), "[]");
  else if (presence === "implicit" && form.kind === "scalar" && defaultOf(form.scalar) !== undefined) {
    file.line(code`let ${value} = ${defaultOf(form.scalar)!};`);
  } else if (presence === "implicit" && form.kind === "enum") {
    const hasZero = !isNumeric(form) || form.shape.values.some((item) => item.value === 0);
    declare(held(), hasZero ? zeroOf(form) : code`0 as number as ${held()}`);
  } else declare(code`${held()} | undefined`);
}

/** Returns whether elements are appended one at a time. */
function isPushed(form: FieldForm): boolean {
  return form.kind === "repeated" && form.type.kind === "array" && !isPacked(form.element);
}

/** Emits the default of a member without fields, if the initial value of its variable is not the default. */
export function completeMember(body: ProtoBody, { field, value }: MemberItem, others: Code | undefined): void {
  const { file, io: r } = body;
  const { form, presence } = field;
  if (presence === "demanded" && form.kind === "oneof") {
    file.line(code`${value} ??= ${abiValue("readUnknownCase")}(${r}, ${others ?? "undefined"});`);
  } else if (presence === "demanded" && form.kind === "enum") {
    file.line(ifStatement(code`${value} === undefined`, code`${r}.refuse();`));
  } else if (presence === "always" || presence === "demanded") {
    file.line(assignmentOperator(value, absentMessage(body, field)), ";");
  } else if (presence === "implicit" && form.kind === "scalar" && form.scalar === "bytes") {
    const type = globalName(isClamped(form) ? "Uint8ClampedArray" : "Uint8Array");
    file.line(code`${value} ??= new ${type}(0);`);
  } else if (presence === "empty" && !isPushed(form)) {
    file.line(code`${value} ??= ${emptyCollection(form as Collection)};`);
  }
}

function assignmentOperator(value: Code, right: Code): Code {
  return code`${value} ??= ${right}`;
}

function absentMessage(body: ProtoBody, field: MessageField): Code {
  const { message } = field.form as Extract<ValueForm, { kind: "message" }>;
  if (message.kind === "timestamp") return code`new ${globalName("Date")}(0)`;
  return call(code`${body.io}.absent`, [codecOf(body, message, field.property)]);
}

function emptyCollection({ type }: Collection): Code {
  switch (type.kind) {
    case "typedArray":
      return code`new ${typedArrayClass(type)}(0)`;
    case "array":
      return "[]";
    case "set":
      return code`new ${globalName("Set")}()`;
    case "map":
      return code`new ${globalName("Map")}()`;
    default:
      return "{}";
  }
}
