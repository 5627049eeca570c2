/** Generates the code of interfaces as messages: a field for each property, followed by unknown fields. */
import type { Field } from "../../../../model/type.js";
import { fieldsOf, type MessageField } from "../../../../protobuf/form/form.js";
import {
  assignment,
  type Code,
  call,
  code,
  conditional,
  destructuring,
  globalName,
  ifStatement,
  type LocalName,
  memberAccess,
  objectLiteral,
  propertyKey,
  shorthand,
  stringLiteral,
} from "../../../kit/index.js";
import { abiValue } from "../../abi-names.js";
import { inPropertyOrder } from "../lockstep/lockstep-layouts.js";
import { buildObject, type ConstantProperty, isInherited, shadowsInherited } from "../object-code.js";
import { isAddedTo, type MemberItem, memberItem, type ProtoBody, unknownFields } from "./body.js";
import { writeCases } from "./cases.js";
import { branchesOf, completeMember, declareMember, type ReadTarget, readLoop } from "./reading.js";
import { writeMember } from "./writing.js";

interface MessageItems {
  /** The members, ordered by field number. */
  readonly items: readonly MemberItem[];
  /** The members, by property. */
  readonly byName: ReadonlyMap<string, MemberItem>;
  /** The fields, in JavaScript's order of properties. */
  readonly fields: readonly Field[];
}

function itemsOf(body: ProtoBody, fields: readonly Field[]): MessageItems {
  const inside: readonly MessageField[] = fieldsOf(
    { kind: "declared", type: { kind: "rdmaBuffer" }, shape: { kind: "message", fields } },
    body.index,
  );
  const items = inside.map((field) => {
    const source = fields.find(({ name }) => name === field.property)!;
    return memberItem(body, field, source.type);
  });
  return { items, byName: new Map(items.map((item) => [item.field.property, item])), fields: inPropertyOrder(fields) };
}

export function writeMessage(body: ProtoBody, fields: readonly Field[], value: LocalName): void {
  const { file, scope, io: w } = body;
  const message = itemsOf(body, fields);
  const others = scope.name("others");
  takeApart(body, message, value, others);
  for (const step of stepsOf(message.items)) {
    if (step.cases === undefined) writeMember(body, step.item);
    else writeCases(body, step.item, step.cases, step.isFirst);
  }
  file.line(code`${w}.unknown(${others});`);
}

/** A member, or consecutive cases of a flattened oneof. */
interface WriteStep {
  readonly item: MemberItem;
  readonly cases?: MessageField[];
  /** Whether the step contains the first case of the oneof. */
  readonly isFirst: boolean;
}

/** Returns the steps ordered by field number. Other fields can separate the cases of a oneof. */
function stepsOf(items: readonly MemberItem[]): readonly WriteStep[] {
  const single = items.flatMap((item): { readonly field: MessageField; readonly item: MemberItem }[] => {
    const { form } = item.field;
    return (form.kind === "oneof" ? form.cases : [item.field]).map((field) => ({ field, item }));
  });
  const steps: WriteStep[] = [];
  for (const { item, field } of single.sort((a, b) => a.field.number - b.field.number)) {
    const last = steps.at(-1);
    if (field === item.field) steps.push({ item, isFirst: true });
    else if (last?.item === item) last.cases?.push(field);
    else steps.push({ item, cases: [field], isFirst: steps.every((step) => step.item !== item) });
  }
  return steps;
}

/** Declares a variable for each property of `value`. */
function takeApart(body: ProtoBody, { fields, byName }: MessageItems, value: LocalName, others: LocalName): void {
  const { file, scope, io: w } = body;
  const isOwn = (name: string) => code`${globalName("Object")}.hasOwn(${value}, ${stringLiteral(name)})`;
  if (fields.some(isInherited)) file.line(ifStatement(code`!${isOwn("__proto__")}`, code`${w}.refuse();`));
  const shadowing = new Map(
    fields.filter(shadowsInherited).map(({ name }): [string, LocalName] => [name, scope.name(`${name}Found`)]),
  );
  const pattern = fields.map(({ name }) => {
    return shorthand(propertyKey(name), shadowing.get(name) ?? byName.get(name)!.value);
  });
  file.line(destructuring([...pattern, code`[${unknownFields}]: ${others}`], value));
  for (const [name, found] of shadowing) {
    const own = conditional(isOwn(name), found, "undefined");
    file.line(assignment(code`const ${byName.get(name)!.value}`, own), ";");
  }
}

/** Emits the statements that read a message. The last one is a return statement. */
export function readMessage(
  body: ProtoBody,
  fields: readonly Field[],
  reading: ReadTarget,
  constant?: ConstantProperty,
): void {
  const { file, scope, io: r } = body;
  const { end, into, type } = reading;
  const message = itemsOf(body, fields);
  const others = scope.name("others");
  for (const { name } of message.fields) declareMember(body, message.byName.get(name)!);
  file.line(code`let ${others}: ${globalName("Uint8Array")} | undefined;`);
  mergeInto(body, message, into, others);
  const branches = message.items.flatMap((item) => branchesOf(body, item));
  readLoop(body, end, branches, others);
  for (const item of message.items) completeMember(body, item, others);
  if (reading.leaves) file.line(code`${r}.leave(${end});`);
  const leave = (result: Code) => file.line("return ", call(abiValue("withUnknown"), [result, others]), ";");
  const items = message.fields.map(({ name }) => ({ name, value: message.byName.get(name)!.value }));
  buildObject({ file, scope, emitReturn: leave }, message.fields, items, type, constant);
}

/** Assigns the values of the earlier message to the variables. */
function mergeInto(
  { file, types }: ProtoBody,
  { fields, byName }: MessageItems,
  into: LocalName,
  others: LocalName,
): void {
  const shadowing = fields.filter(shadowsInherited);
  const cast = fields.filter((field) => isAddedTo(byName.get(field.name)!));
  const plain = fields.filter((field) => !shadowing.includes(field) && !cast.includes(field));
  const pattern = plain.map(({ name }) => shorthand(propertyKey(name), byName.get(name)!.value));
  file.block(code`if (${into} !== undefined)`, () => {
    const entries = objectLiteral([...pattern, code`[${unknownFields}]: ${others}`]);
    file.line("(", entries, " = ", into, ");");
    for (const { name } of shadowing) {
      const own = code`${globalName("Object")}.hasOwn(${into}, ${stringLiteral(name)})`;
      const found = objectLiteral([shorthand(propertyKey(name), byName.get(name)!.value)]);
      file.line(ifStatement(own, code`(${found} = ${into});`));
    }
    for (const { name } of cast) {
      const { value, type: filled } = byName.get(name)!;
      file.line(assignment(value, code`${memberAccess(into, name)} as ${types.type(filled)}`), ";");
    }
  });
}
