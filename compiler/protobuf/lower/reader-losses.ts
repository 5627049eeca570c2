/** Determines what a reader of a repeated field drops although the wire contains it: duplicates and bits. */
import type { ProtoField } from "../../../shared/protobuf/proto-schema.js";
import type { SchemaIndex } from "../../model/resolve.js";
import { type FieldForm, type ValueForm, valueForm } from "../form/form.js";

const narrow: Readonly<Record<string, 8 | 16>> = { int8: 8, int16: 16, uint16: 16 };

export function readerLosses(
  { element, type }: Extract<FieldForm, { kind: "repeated" }>,
  index: SchemaIndex,
): Pick<ProtoField, "unique" | "bits"> {
  switch (type.kind) {
    case "typedArray": {
      const bits = narrow[type.element];
      return bits === undefined ? {} : { bits };
    }
    case "set":
      return canBeEqual(element) ? { unique: "value" } : {};
    case "map":
      return canBeEqual(valueForm(type.key, index)) ? { unique: "key" } : {};
    case "array":
      return {};
  }
}

/** Returns whether two values can be equal. Objects are never equal, and bytes are objects. Two nulls are. */
function canBeEqual(form: ValueForm): boolean {
  if (form.kind === "message") return form.message.kind === "standIn" && form.message.field === "value";
  return form.kind === "enum" || form.scalar !== "bytes";
}
