/** Codecs of unions and oneofs. A value is the index of its variant, followed by the variant. */

import { simpleName } from "../../../shared/names/qualified-name.js";
import { protoName } from "../../../shared/protobuf/names.js";
import type { Codec } from "../codec.js";
import type { PathSegment } from "../codec-refusal.js";
import { ChoiceFields, type ChosenCase, listNames, unknownCase } from "../protobuf/choices.js";
import { atSegment } from "../protobuf/member-field.js";
import { type ChoiceStructure, nameParts } from "../protobuf/message-structure.js";
import type { ChoiceMember, ProtoMessageForm } from "../protobuf/proto-form.js";
import type { ProtobufReader } from "../protobuf/reader.js";
import { unknownFields, type WithUnknownFields, withUnknown } from "../protobuf/unknown-fields.js";
import type { ProtobufWriter } from "../protobuf/writer.js";
import type { Reader } from "../reader.js";
import { invalidValue, readPart, writePart } from "../traced-part.js";
import type { Writer } from "../writer.js";
import { CaseIndex } from "./case-index.js";
import { ComposedCodec, fingerprintHex } from "./composed-codec.js";
import { fieldText, givenName, ownPropertyOf } from "./object.js";

/** The protobuf numbers and the names of a union or a oneof. */
export interface ChoiceProto {
  /** The field numbers of the variants or cases, in their order. Default: 1, 2, 3, … */
  readonly numbers?: readonly number[];
  /** The names of fields in protobuf that are not derived from the names of the variants. */
  readonly names?: Readonly<Record<string, string>>;
  /** The names in JSON that are not derived from the field names. */
  readonly json?: Readonly<Record<string, string>>;
  /** The full name of the protobuf message. */
  readonly type?: string;
}

/** The codec of objects whose variant is identified by one property. The codecs of the variants can omit the property. */
export class UnionCodec<T extends object> extends ComposedCodec<T> {
  readonly name: string;
  readonly protoForm: ProtoMessageForm = { kind: "message" };
  /** @internal */
  readonly proto: ChoiceProto;
  readonly #discriminant: string;
  readonly #variants: () => Readonly<Record<string, Codec<unknown>>>;
  #resolved: readonly [string, Codec<unknown>][] | undefined;
  #choices: ChoiceFields | undefined;
  #structure: ChoiceStructure<T> | undefined;

  constructor(
    name: string,
    discriminant: string,
    variants: () => Readonly<Record<string, Codec<unknown>>>,
    proto: ChoiceProto = {},
  ) {
    super();
    this.name = name;
    this.proto = proto;
    this.#discriminant = discriminant;
    this.#variants = variants;
  }

  get slot(): number {
    return new CaseIndex(this.#entries().length).slot;
  }

  parts(): readonly Codec<unknown>[] {
    return this.#entries().map(([, codec]) => codec);
  }

  protected fingerprintText(): string {
    const variants = this.#entries().map(([tag, codec]) => `${JSON.stringify(tag)}:${fingerprintHex(codec)}`);
    return `union ${simpleName(this.name)}(${this.#discriminant}){${variants.join(",")}}`;
  }

  write(w: Writer, at: number, value: T): void {
    if (typeof value !== "object" || value === null) throw invalidValue(this.name || "union", "an object", value);
    const entries = this.#entries();
    const tag = ownPropertyOf(value, this.#discriminant);
    const number = entries.findIndex(([name]) => name === tag);
    const variant = entries[number];
    if (variant === undefined) {
      const expected = `${this.#discriminant} to be ${listNames(entries.map(([name]) => name))}`;
      throw invalidValue(this.name || "union", expected, tag);
    }
    new CaseIndex(entries.length).write(w, at, number);
    writePart(w, variant[1], w.reserve(variant[1].slot), value, { text: "" });
  }

  read(r: Reader, at: number): T {
    const entries = this.#entries();
    const [tag, codec] = entries[new CaseIndex(entries.length).read(r, at, this.name || "union")] as [
      string,
      Codec<unknown>,
    ];
    const value = readPart(r, codec, r.take(codec.slot), { text: "" }) as object;
    return { [this.#discriminant]: tag, ...value } as T;
  }

  override writeFields(w: ProtobufWriter, value: T): void {
    if (typeof value !== "object" || value === null) throw invalidValue(this.name || "union", "an object", value);
    const tag = ownPropertyOf(value, this.#discriminant);
    const choice = this.#cases.named(tag);
    if (choice !== undefined) choice.element.write(w, choice.number, value);
    else if (tag === unknownCase) writeUnknown(w, this.name || "union", value);
    else {
      const expected = `${this.#discriminant} to be ${listNames(this.#entries().map(([name]) => name))}`;
      throw invalidValue(this.name || "union", expected, tag);
    }
  }

  override readFields(r: ProtobufReader, end: number, into: T | undefined): T {
    const name = into === undefined ? undefined : (ownPropertyOf(into, this.#discriminant) as string);
    const isUnknown = name === unknownCase;
    const chosen: ChosenCase = { name, value: into, unknown: isUnknown ? unknownFieldsOf(into) : undefined };
    this.#cases.read(r, end, chosen);
    if (chosen.name !== undefined && chosen.name !== unknownCase) {
      // Unknown fields of the variant are under the symbol. Unknown fields beside the variant are dropped.
      const tag = { [this.#discriminant]: chosen.name };
      return { ...tag, ...(chosen.value as object), ...tag } as T;
    }
    if (chosen.unknown === undefined) throw this.#cases.missingError(this.name || "union");
    return withUnknown({ [this.#discriminant]: unknownCase } as T, chosen.unknown);
  }

  /** @internal */
  get structure(): ChoiceStructure<T> {
    const discriminant = this.#discriminant;
    this.#structure ??= {
      kind: "choice",
      standsFor: "union",
      oneof: protoName(discriminant),
      ...choiceParts(this.#entries(), this.proto, { text: "" }),
      split: (value) => {
        if (typeof value !== "object" || value === null) throw invalidValue(this.name || "union", "an object", value);
        const tag = ownPropertyOf(value, discriminant);
        const index = this.#entries().findIndex(([name]) => name === tag);
        if (index >= 0) return { index, value };
        if (tag === unknownCase) return undefined;
        const expected = `${discriminant} to be ${listNames(this.#entries().map(([name]) => name))}`;
        throw invalidValue(this.name || "union", expected, tag);
      },
      join: (index, value) => {
        const tag = { [discriminant]: index === undefined ? unknownCase : this.#entries()[index]?.[0] };
        return { ...tag, ...(value as object | undefined), ...tag } as T;
      },
    };
    return this.#structure;
  }

  get #cases(): ChoiceFields {
    this.#choices ??= new ChoiceFields(choiceMembersOf(this.#entries(), this.proto));
    return this.#choices;
  }

  #entries(): readonly [string, Codec<unknown>][] {
    this.#resolved ??= Object.entries(this.#variants());
    return this.#resolved;
  }
}

/** The codec of a oneof: `{ case, value }`. */
export class OneofCodec<T extends { readonly case: string; readonly value: unknown }> extends ComposedCodec<T> {
  readonly name: string;
  readonly protoForm: ProtoMessageForm = {
    kind: "message",
    cases: () => choiceMembersOf(this.#entries(), this.proto),
  };
  /** @internal */
  readonly proto: ChoiceProto;
  readonly #cases: () => Readonly<Record<string, Codec<unknown>>>;
  #resolved: readonly [string, Codec<unknown>][] | undefined;
  #choices: ChoiceFields | undefined;
  #structure: ChoiceStructure<T> | undefined;

  constructor(name: string, cases: () => Readonly<Record<string, Codec<unknown>>>, proto: ChoiceProto = {}) {
    super();
    this.name = name;
    this.proto = proto;
    this.#cases = cases;
  }

  get slot(): number {
    return new CaseIndex(this.#entries().length).slot;
  }

  parts(): readonly Codec<unknown>[] {
    return this.#entries().map(([, codec]) => codec);
  }

  protected fingerprintText(): string {
    return `oneof ${simpleName(this.name)}{${this.#entries()
      .map(([name, codec]) => fieldText(name, codec))
      .join(",")}}`;
  }

  write(w: Writer, at: number, value: T): void {
    if (typeof value !== "object" || value === null) throw invalidValue(this.name || "oneof", "an object", value);
    const entries = this.#entries();
    const number = entries.findIndex(([name]) => name === value.case);
    const codec = entries[number]?.[1];
    if (codec === undefined) {
      throw invalidValue(this.name || "oneof", `case to be ${listNames(entries.map(([name]) => name))}`, value.case);
    }
    new CaseIndex(entries.length).write(w, at, number);
    writePart(w, codec, w.reserve(codec.slot), value.value, "value");
  }

  read(r: Reader, at: number): T {
    const entries = this.#entries();
    const [name, codec] = entries[new CaseIndex(entries.length).read(r, at, this.name || "oneof")] as [
      string,
      Codec<unknown>,
    ];
    return { case: name, value: readPart(r, codec, r.take(codec.slot), "value") } as T;
  }

  override writeFields(w: ProtobufWriter, value: T): void {
    if (typeof value !== "object" || value === null) throw invalidValue(this.name || "oneof", "an object", value);
    const choice = this.#fields.named(value.case);
    if (choice !== undefined) {
      atSegment("value", w.tracing, () => choice.element.write(w, choice.number, value.value));
      w.unknown(unknownFieldsOf(value));
    } else if (value.case === unknownCase) writeUnknown(w, this.name || "oneof", value);
    else {
      const names = this.#entries().map(([name]) => name);
      throw invalidValue(this.name || "oneof", `case to be ${listNames(names)}`, value.case);
    }
  }

  override readFields(r: ProtobufReader, end: number, into: T | undefined): T {
    const chosen: ChosenCase = { name: into?.case, value: into?.value, unknown: unknownFieldsOf(into) };
    this.#fields.read(r, end, chosen, "value");
    const { name, value, unknown } = chosen;
    if (name !== undefined && name !== unknownCase) return withUnknown({ case: name, value } as T, unknown);
    if (unknown === undefined) throw this.#fields.missingError(this.name || "oneof");
    return withUnknown({ case: unknownCase, value: undefined } as unknown as T, unknown);
  }

  /** @internal */
  get structure(): ChoiceStructure<T> {
    this.#structure ??= {
      kind: "choice",
      standsFor: "oneof",
      oneof: "value",
      ...choiceParts(this.#entries(), this.proto, "value"),
      split: (value) => {
        if (typeof value !== "object" || value === null) throw invalidValue(this.name || "oneof", "an object", value);
        const index = this.#entries().findIndex(([name]) => name === value.case);
        if (index >= 0) return { index, value: value.value };
        if (value.case === unknownCase) return undefined;
        const expected = `case to be ${listNames(this.#entries().map(([name]) => name))}`;
        throw invalidValue(this.name || "oneof", expected, value.case);
      },
      join: (index, value) => {
        const name = index === undefined ? unknownCase : this.#entries()[index]?.[0];
        return { case: name, value } as T;
      },
    };
    return this.#structure;
  }

  get #fields(): ChoiceFields {
    this.#choices ??= new ChoiceFields(choiceMembersOf(this.#entries(), this.proto));
    return this.#choices;
  }

  #entries(): readonly [string, Codec<unknown>][] {
    this.#resolved ??= Object.entries(this.#cases());
    return this.#resolved;
  }
}

/** Returns the cases with their names in protobuf, and the name of the message. */
function choiceParts(
  entries: readonly [string, Codec<unknown>][],
  { numbers, names = {}, json = {}, type }: ChoiceProto,
  segment: PathSegment,
): Pick<ChoiceStructure, "parts" | "type"> {
  const parts = entries.map(([member, codec], i) => {
    const own = { ...givenName("name", names, member), ...givenName("json", json, member) };
    return { codec, segment, member, number: numbers?.[i] ?? i + 1, ...own };
  });
  return { parts: nameParts(parts, true), ...(type !== undefined && { type }) };
}

function choiceMembersOf(entries: readonly [string, Codec<unknown>][], { numbers }: ChoiceProto): ChoiceMember[] {
  return entries.map(([name, codec], i) => ({ name, codec, number: numbers?.[i] ?? i + 1 }));
}

function unknownFieldsOf(value: object | undefined): Uint8Array | undefined {
  return (value as WithUnknownFields | undefined)?.[unknownFields];
}

/** Writes an unknown case or variant as the bytes that it was read from. */
function writeUnknown(w: ProtobufWriter, type: string, value: object): void {
  const fields = unknownFieldsOf(value);
  if (fields === undefined) throw invalidValue(type, "the unknown fields that make it", "none");
  w.unknown(fields);
}
