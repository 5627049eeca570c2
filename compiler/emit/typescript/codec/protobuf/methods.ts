/**
 * Generates the methods `writeFields` and `readFields` of a codec, according to the kind of type. Aliases of
 * collections and tuples with rest elements use the composed codec, because they are fields of the messages that
 * contain them.
 */
import type { Type } from "../../../../model/type.js";
import { fieldsOf, type MessageField } from "../../../../protobuf/form/form.js";
import { type Code, code, type LocalName, signature, union } from "../../../kit/index.js";
import { abiType } from "../../abi-names.js";
import { partHint } from "../lockstep/body.js";
import type { GeneratedType } from "../lockstep/methods.js";
import { type ProtoBody, withUnknown } from "./body.js";
import { emitVariantReader, type InPlaceFields, readOneof, readUnion, writeOneof, writeUnion } from "./choice.js";
import { readMessage, writeMessage } from "./message.js";
import type { ReadTarget } from "./reading.js";
import { readTuple, writeTuple } from "./tuple.js";

/** The parts of a codec that this module needs. */
export interface ProtobufCodecSpec {
  readonly generated: GeneratedType;
  readonly hint: string;
  /** The type of the values, as code. */
  readonly type: Code;
  /** The names of the types of variants without a codec, by their tags. */
  readonly variants: ReadonlyMap<string, LocalName>;
  readonly own: InPlaceFields;
  /** The message of a call's arguments. */
  readonly parameters?: readonly MessageField[];
}

type ProtobufCodecContext = Omit<ProtoBody, "scope" | "hint" | "io">;

/** The functions that read variants without a codec, by the tags of the variants. They precede the class. */
export type VariantReaders = ReadonlyMap<string, LocalName>;

export function emitVariantReaders(unit: ProtobufCodecSpec, surroundings: ProtobufCodecContext): VariantReaders {
  const { generated, variants, own } = unit;
  const { file } = surroundings;
  const readers = new Map<string, LocalName>();
  if (generated.kind !== "union") return readers;
  for (const { tag, type } of generated.variants) {
    const fields = own(type);
    const name = variants.get(tag);
    if (fields === undefined || name === undefined) continue;
    const hint = partHint(unit.hint, tag);
    const reader = file.local(`read${hint}`);
    readers.set(tag, reader);
    file.blank();
    const scope = file.scope();
    const body = { ...surroundings, hint, scope, io: scope.name("r") };
    emitVariantReader(body, reader, fields, name, { name: generated.discriminant, value: tag });
  }
  return readers;
}

export function emitProtobufMethods(
  unit: ProtobufCodecSpec,
  readers: VariantReaders,
  surroundings: ProtobufCodecContext,
): void {
  const { generated } = unit;
  const left = generated.kind === "alias" || (generated.kind === "tuple" && generated.rest !== undefined);
  if (left) return;
  surroundings.file.blank();
  emitWriteFields(unit, surroundings);
  surroundings.file.blank();
  emitReadFields(unit, readers, surroundings);
}

function emitWriteFields(unit: ProtobufCodecSpec, surroundings: ProtobufCodecContext): void {
  const { generated, hint, own } = unit;
  const { file } = surroundings;
  const scope = file.scope();
  const [w, value] = [scope.name("w"), scope.name("value")];
  const body: ProtoBody = { ...surroundings, scope, hint, io: w };
  const params = [code`${w}: ${abiType("ProtobufWriter")}`, code`${value}: ${keptType(unit)}`];
  file.block(["override writeFields", signature(params, "void")], () => {
    switch (generated.kind) {
      case "message":
        file.line(code`${w}.requireObject(${value});`);
        writeMessage(body, generated.fields, value);
        break;
      case "oneof":
        writeOneof(body, generated, value);
        break;
      case "union":
        writeUnion(body, generated, value, own);
        break;
      case "tuple":
        writeTuple(body, generated, tupleFields(unit, generated, body), value);
        break;
    }
  });
}

function emitReadFields(unit: ProtobufCodecSpec, readers: VariantReaders, surroundings: ProtobufCodecContext): void {
  const { generated, hint, type, own } = unit;
  const { file } = surroundings;
  const scope = file.scope();
  const r = scope.name("r");
  const isEmpty = generated.kind === "tuple" && generated.elements.length === 0;
  const reading: ReadTarget = { end: scope.name("end"), into: scope.name(isEmpty ? "_into" : "into"), type };
  const body: ProtoBody = { ...surroundings, scope, hint, io: r };
  const params = [
    code`${r}: ${abiType("ProtobufReader")}`,
    code`${reading.end}: number`,
    code`${reading.into}: ${union([keptType(unit), "undefined"])}`,
  ];
  file.block(["override readFields", signature(params, type)], () => {
    switch (generated.kind) {
      case "message":
        readMessage(body, generated.fields, reading);
        break;
      case "oneof":
        readOneof(body, generated, reading);
        break;
      case "union":
        readUnion(body, generated, reading, own, readers);
        break;
      case "tuple":
        readTuple(body, generated, tupleFields(unit, generated, body), reading);
        break;
    }
  });
}

/** Returns the type of the values with their unknown fields. */
function keptType({ generated, type }: ProtobufCodecSpec): Code {
  return generated.kind === "tuple" ? type : withUnknown(type);
}

function tupleFields(
  { parameters }: ProtobufCodecSpec,
  tuple: Extract<Type, { kind: "tuple" }>,
  { index }: ProtoBody,
): readonly MessageField[] {
  return parameters ?? fieldsOf({ kind: "tuple", type: tuple }, index);
}
