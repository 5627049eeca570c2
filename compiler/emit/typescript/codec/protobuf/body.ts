/**
 * The body of one generated method of the protobuf layout: where its statements go, which names it has, how it refers to
 * other codecs.
 */
import type { SchemaIndex } from "../../../../model/resolve.js";
import type { Type } from "../../../../model/type.js";
import type { MessageField, MessageForm } from "../../../../protobuf/form/form.js";
import { type Code, code, type FileBuilder, generic, type LocalName, type NameScope } from "../../../kit/index.js";
import { abiType, abiValue } from "../../abi-names.js";
import type { TypePrinter } from "../../type-printer.js";
import { type CodecReferences, localFor, partHint } from "../lockstep/body.js";

export interface ProtoBody {
  readonly file: FileBuilder;
  readonly scope: NameScope;
  readonly types: TypePrinter;
  readonly index: SchemaIndex;
  readonly codecs: CodecReferences;
  /** What private codecs of this type's parts are called after. */
  readonly hint: string;
  /** The writer or the reader. */
  readonly io: LocalName;
}

/** A member of a message, and the variable that holds its value. */
export interface MemberItem {
  readonly field: MessageField;
  readonly value: LocalName;
  /** What the variable holds when something has come: a list that can be added to. */
  readonly type: Type;
}

export function memberItem({ scope }: ProtoBody, field: MessageField, type: Type): MemberItem {
  return { field, value: localFor(scope, field.property), type: filledType(field, type) };
}

/** Whether a list is added to that is readonly outside of here. */
export function isAddedTo({ field: { form } }: MemberItem): boolean {
  return form.kind === "repeated" && form.type.kind === "array" && form.type.readonly;
}

function filledType({ form, presence }: MessageField, type: Type): Type {
  if (form.kind === "repeated" && form.type.kind === "array") return { ...form.type, readonly: false };
  return presence === "nullable" && type.kind === "nullable" ? type.inner : type;
}

/** The codec that writes and reads a message. A `Timestamp` has methods of its own. */
export function codecOf({ codecs, hint }: ProtoBody, message: MessageForm, name: string): Code {
  const part = partHint(hint, name);
  switch (message.kind) {
    case "timestamp":
      return code`${abiValue("codec")}.date`;
    case "standIn":
    case "entry":
      return codecs.standIn(message.type, part);
    default:
      return codecs.reference(message.type, part);
  }
}

export const unknownFields = abiValue("unknownFields");

/** `type` with the fields that its schema does not know. */
export function withUnknown(type: Code): Code {
  return generic(abiType("WithUnknown"), [type], true);
}

/** Tags of fields as numbers: unsigned, 32 bits. */
export function tagOf(number: number, wire: number): string {
  return String(number * 8 + wire);
}
