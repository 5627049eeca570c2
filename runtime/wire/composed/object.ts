/** The codec of objects with known properties: the messages of a schema. */
import { simpleName } from "../../../shared/names/qualified-name.js";
import type { Codec, ValueOf } from "../codec.js";
import { withPathSegment } from "../codec-refusal.js";
import { FieldTable, type KeptUnknownFields } from "../protobuf/field-table.js";
import { choiceOf, type MembersStructure, type MessagePart, nameParts } from "../protobuf/message-structure.js";
import type { ProtoMessageForm } from "../protobuf/proto-form.js";
import type { ProtobufReader } from "../protobuf/reader.js";
import { unknownFields, type WithUnknownFields, withUnknown } from "../protobuf/unknown-fields.js";
import type { ProtobufWriter } from "../protobuf/writer.js";
import type { Reader } from "../reader.js";
import { invalidValue } from "../traced-part.js";
import type { Writer } from "../writer.js";
import { ComposedCodec, containsCodec } from "./composed-codec.js";
import { FieldRow, markedFingerprint } from "./field-row.js";

/** The type of the objects with these codecs of properties. A property with `codec.optional` may be missing. */
export type ObjectOf<F> = FlatObject<
  { [K in keyof F as undefined extends ValueOf<F[K]> ? never : K]: ValueOf<F[K]> } & {
    [K in keyof F as undefined extends ValueOf<F[K]> ? K : never]?: Exclude<ValueOf<F[K]>, undefined>;
  }
>;
type FlatObject<T> = { [K in keyof T]: T[K] };

/** A codec for each property. The codec of a property that may be missing is `codec.optional`. */
export type FieldCodecs<T> = { readonly [K in keyof T]-?: Codec<T[K] | undefined> };

/** The protobuf numbers and the names of an object. */
export interface ObjectProto {
  /** The field numbers, in the order of the members. Default: 1, 2, 3, … Numbers of members in `flat` are unused. */
  readonly numbers?: readonly number[];
  /** The field names in protobuf that are not derived from the names of the members. */
  readonly names?: Readonly<Record<string, string>>;
  /** The names in JSON that are not derived from the field names. */
  readonly json?: Readonly<Record<string, string>>;
  /** Array members whose elements are not packed, although protobuf would pack them. */
  readonly unpacked?: readonly string[];
  /** The full name of the protobuf message: `example.v1.Tree`. */
  readonly type?: string;
  /** Members that are oneofs whose cases are fields of this message. */
  readonly flat?: readonly string[];
}

export class ObjectCodec<T extends object> extends ComposedCodec<T> {
  readonly name: string;
  readonly protoForm: ProtoMessageForm = { kind: "message" };
  /** @internal */
  readonly proto: ObjectProto;
  readonly #fields: FieldCodecs<T> | (() => FieldCodecs<T>);
  #plan: ObjectPlan | undefined;
  #structure: MembersStructure<T> | undefined;
  #containsItself: boolean | undefined;

  constructor(name: string, fields: FieldCodecs<T> | (() => FieldCodecs<T>), proto: ObjectProto = {}) {
    super();
    this.name = name;
    this.proto = proto;
    this.#fields = fields;
  }

  get slot(): number {
    return this.#planned().row.slot;
  }

  parts(): readonly Codec<unknown>[] {
    return this.#planned().codecs;
  }

  protected fingerprintText(): string {
    const { keys, codecs } = this.#planned();
    return `message ${simpleName(this.name)}{${keys.map((key, i) => fieldText(key, codecs[i] as Codec<unknown>)).join(",")}}`;
  }

  write(w: Writer, at: number, value: T): void {
    if (typeof value !== "object" || value === null) throw invalidValue(this.name, "an object", value);
    const { row, keys } = this.#planned();
    if (this.#recursive) w.enter();
    row.write(
      w,
      at,
      keys.map((key) => (w.tracing ? tracedProperty(value, key) : ownPropertyOf(value, key))),
    );
    if (this.#recursive) w.leave();
  }

  read(r: Reader, at: number): T {
    const { row } = this.#planned();
    if (this.#recursive) r.enter();
    const values = row.read(r, at);
    if (this.#recursive) r.leave();
    return this.#assemble(values);
  }

  override writeFields(w: ProtobufWriter, value: T): void {
    if (typeof value !== "object" || value === null) throw invalidValue(this.name, "an object", value);
    const { table, keys } = this.#planned();
    table.write(
      w,
      keys.map((key) => (w.tracing ? tracedProperty(value, key) : ownPropertyOf(value, key))),
    );
    w.unknown((value as WithUnknownFields)[unknownFields]);
  }

  override readFields(r: ProtobufReader, end: number, into: T | undefined): T {
    const { table, keys } = this.#planned();
    const values = keys.map((key) => (into === undefined ? undefined : ownPropertyOf(into, key)));
    const kept: KeptUnknownFields = { unknown: (into as WithUnknownFields | undefined)?.[unknownFields] };
    table.read(r, end, values, kept);
    return withUnknown(this.#assemble(values), kept.unknown);
  }

  /** @internal */
  get structure(): MembersStructure<T> {
    this.#structure ??= {
      kind: "members",
      ...(this.proto.type !== undefined && { type: this.proto.type }),
      parts: this.#parts(),
      toRow: (value) => {
        if (typeof value !== "object" || value === null) throw invalidValue(this.name, "an object", value);
        return this.#planned().keys.map((key) => tracedProperty(value, key));
      },
      fromRow: (values) => this.#assemble(values),
    };
    return this.#structure;
  }

  #parts(): readonly MessagePart[] {
    const { keys, codecs } = this.#planned();
    const { numbers, names = {}, json = {}, flat = [], unpacked = [] } = this.proto;
    return nameParts(
      keys.map((key, i) => {
        const codec = codecs[i] as Codec<unknown>;
        const cases = flat.includes(key) ? choiceOf(codec).parts : undefined;
        const number = numbers?.[i] ?? i + 1;
        const own = { ...givenName("name", names, key), ...givenName("json", json, key) };
        const isUnpacked = unpacked.includes(key);
        return {
          codec,
          segment: key,
          member: key,
          number,
          ...own,
          ...(cases && { cases }),
          ...(isUnpacked && { unpacked: true }),
        };
      }),
    );
  }

  #assemble(values: readonly unknown[]): T {
    const entries = this.#planned().keys.map((key, i): [string, unknown] => [key, values[i]]);
    // `fromEntries` defines properties, so that `__proto__` is an ordinary one.
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as T;
  }

  /** Whether the type is recursive. */
  get #recursive(): boolean {
    this.#containsItself ??= containsCodec(this, this, new Set());
    return this.#containsItself;
  }

  #planned(): ObjectPlan {
    this.#plan ??= planObject(typeof this.#fields === "function" ? this.#fields() : this.#fields, this.proto);
    return this.#plan;
  }
}

/** Returns the protobuf or JSON name that the schema gives to a member. */
export function givenName<K extends "name" | "json">(
  what: K,
  names: Readonly<Record<string, string>>,
  member: string,
): { readonly [P in K]?: string } {
  return (Object.hasOwn(names, member) ? { [what]: names[member] } : {}) as { readonly [P in K]?: string };
}

interface ObjectPlan {
  readonly keys: readonly string[];
  readonly codecs: readonly Codec<unknown>[];
  readonly row: FieldRow;
  readonly table: FieldTable;
}

function planObject(fields: object, { numbers, flat = [], unpacked = [] }: ObjectProto): ObjectPlan {
  const entries = Object.entries(fields) as [string, Codec<unknown>][];
  return {
    keys: entries.map(([key]) => key),
    codecs: entries.map(([, codec]) => codec),
    row: new FieldRow(entries.map(([segment, codec]) => ({ segment, codec }))),
    table: new FieldTable(
      entries.map(([segment, codec], i) => ({
        segment,
        codec,
        number: numbers?.[i] ?? i + 1,
        flat: flat.includes(segment),
        unpacked: unpacked.includes(segment),
      })),
    ),
  };
}

/** Reads a property. If its getter throws, the error has the path of the property. */
function tracedProperty(value: object, key: string): unknown {
  try {
    return ownPropertyOf(value, key);
  } catch (error) {
    throw withPathSegment(error, key);
  }
}

/** Reads a property. Returns undefined for a property that is inherited from `Object.prototype`. */
export function ownPropertyOf(value: object, key: string): unknown {
  const own = (value as Readonly<Record<string, unknown>>)[key];
  return key in Object.prototype && !Object.hasOwn(value, key) ? undefined : own;
}

/** Returns `name?:<fingerprint>`. */
export function fieldText(key: string, codec: Codec<unknown>): string {
  const { mark, hex } = markedFingerprint(codec);
  return `${JSON.stringify(key).slice(1, -1)}${mark}:${hex}`;
}
