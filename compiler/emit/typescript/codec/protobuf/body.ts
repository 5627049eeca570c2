/**
 * The context of one generated method of the protobuf layout: its output, its names, and its references to other
 * codecs.
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
  /** The base of the names of private codecs of this type's parts. */
  readonly hint: string;
  /** The variable of the writer or the reader. */
  readonly io: LocalName;
}

/** A member of a message and the variable of its value. */
export interface MemberItem {
  readonly field: MessageField;
  readonly value: LocalName;
  /** The type of the variable after the first field has been read. A list in it is mutable. */
  readonly type: Type;
}

export function memberItem({ scope }: ProtoBody, field: MessageField, type: Type): MemberItem {
  return { field, value: localFor(scope, field.property), type: filledType(field, type) };
}

/** Returns whether elements are added to a list whose declared type is readonly. */
export function isAddedTo({ field: { form } }: MemberItem): boolean {
  return form.kind === "repeated" && form.type.kind === "array" && form.type.readonly;
}

function filledType({ form, presence }: MessageField, type: Type): Type {
  if (form.kind === "repeated" && form.type.kind === "array") return { ...form.type, readonly: false };
  return presence === "nullable" && type.kind === "nullable" ? type.inner : type;
}

/** Returns the codec that writes and reads a message. A `Timestamp` has its own methods. */
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

/** Returns `type` with a property for unknown fields. */
export function withUnknown(type: Code): Code {
  return generic(abiType("WithUnknown"), [type], true);
}

/** Returns the tag of a field: an unsigned 32-bit number. */
export function tagOf(number: number, wire: number): string {
  return String(number * 8 + wire);
}
