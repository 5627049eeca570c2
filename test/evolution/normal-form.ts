/**
 * Values as the protobuf layout can tell them apart: what is absent, null, a default or empty is one in a member, since one
 * of two sides may have implicit presence there. Elements of lists and maps, and cases, are what they are.
 */
import { instantiate, type SchemaIndex, type Shape, type Type } from "../../compiler/model/index.js";
import { unknownFields } from "../../runtime/wire/index.js";

const absent = Symbol("absent");

function normalForm(value: unknown, type: Type, index: SchemaIndex): unknown {
  switch (type.kind) {
    case "nullable":
      return memberForm(value, type.inner, index);
    case "array":
      return (value as unknown[]).map((one) => normalForm(one, type.element, index));
    case "set":
      return new Set([...(value as Set<unknown>)].map((one) => normalForm(one, type.element, index)));
    case "map":
      return new Map(
        [...(value as Map<unknown, unknown>)].map(([key, one]) => [
          normalForm(key, type.key, index),
          normalForm(one, type.value, index),
        ]),
      );
    case "record":
      return new Map(Object.entries(value as object).map(([key, one]) => [key, normalForm(one, type.value, index)]));
    case "tuple": {
      const { elements, rest } = type;
      const list = value as unknown[];
      const fixed = elements.map((element, i) => memberForm(list[i], element.type, index));
      const more = list.slice(elements.length).map((one) => normalForm(one, rest as Type, index));
      return { fixed, more };
    }
    case "ref":
      return shapeForm(value, instantiate(index.type(type.target), type.args), index);
    case "inline":
      return shapeForm(value, type.shape, index);
    default:
      return value;
  }
}

function shapeForm(value: unknown, shape: Shape, index: SchemaIndex): unknown {
  const object = value as Readonly<Record<PropertyKey, unknown>>;
  switch (shape.kind) {
    case "alias":
      return normalForm(value, shape.type, index);
    case "enum":
      return value;
    case "message": {
      const members = shape.fields.map((field): [string, unknown] => [
        field.name,
        memberForm(Object.hasOwn(object, field.name) ? object[field.name] : undefined, field.type, index),
      ]);
      return new Map<unknown, unknown>([...members.filter(([, one]) => one !== absent), ...unknownOf(object)]);
    }
    case "oneof": {
      const chosen = shape.cases.find(({ name }) => name === object["case"]);
      const inner = chosen === undefined ? undefined : normalForm(object["value"], chosen.type, index);
      return new Map<unknown, unknown>([["case", object["case"]], ["value", inner], ...unknownOf(object)]);
    }
    case "union": {
      const tag = object[shape.discriminant];
      const variant = shape.variants.find((one) => one.tag === tag);
      const inner = variant === undefined ? undefined : normalForm(value, variant.type, index);
      return new Map<unknown, unknown>([["tag", tag], ["value", inner], ...unknownOf(object)]);
    }
  }
}

/** A field that nobody knows: number 100000, with two bytes. */
export const stranger = Uint8Array.of(0x82, 0xea, 0x30, 2, 7, 9);

/** Beside what came back there may be what the other side alone knows, and always writes. */
function unknownOf(object: Readonly<Record<PropertyKey, unknown>>): [unknown, unknown][] {
  const unknown = Buffer.from((object[unknownFields] ?? []) as Uint8Array);
  return unknown.includes(Buffer.from(stranger)) ? [["unknown fields", "kept"]] : [];
}

/** Of a member, or of a whole value: the message that stands for it has it as its member. */
export function memberForm(value: unknown, type: Type, index: SchemaIndex): unknown {
  if (value === undefined || value === null) return absent;
  const form = normalForm(value, type, index);
  return isDefault(form) ? absent : form;
}

function isDefault(form: unknown): boolean {
  if (form === 0) return !Object.is(form, -0);
  if (form === 0n || form === "" || form === false || form === null) return true;
  if (form instanceof Date) return form.getTime() === 0;
  if (form instanceof Map || form instanceof Set) return form.size === 0;
  if (ArrayBuffer.isView(form)) return form.byteLength === 0;
  if (Array.isArray(form)) return form.length === 0;
  if (typeof form === "object" && form !== null && "fixed" in form) {
    const { fixed, more } = form as { readonly fixed: readonly unknown[]; readonly more: readonly unknown[] };
    return more.length === 0 && fixed.every((one) => one === absent);
  }
  // A well-known type: an object as it is.
  if (typeof form === "object" && Object.getPrototypeOf(form) === Object.prototype)
    return Object.values(form).every(isDefault);
  return false;
}
