/** Writes and reads the fields of a message from a table, for composed codecs. */
import type { Codec } from "../codec.js";
import type { PathSegment } from "../codec-refusal.js";
import { invalidValue } from "../traced-part.js";
import { ChoiceFields, listNames, unknownCase } from "./choices.js";
import { atSegment, type MemberField, memberFieldOf } from "./member-field.js";
import { protoFormOf } from "./proto-form.js";
import type { ProtobufReader } from "./reader.js";
import type { ProtobufWriter } from "./writer.js";

export interface TableMember {
  readonly codec: Codec<unknown>;
  readonly segment: PathSegment;
  /** The field number. Unused for a flat oneof, whose cases are fields of this message. */
  readonly number: number;
  readonly flat?: boolean;
  /** Whether each element of an array is written as a field of its own. */
  readonly unpacked?: boolean;
}

/** A field of the message: a member, or a case of a flat oneof. */
interface TableField extends MemberField {
  readonly number: number;
  /** The index of the member that the field belongs to. */
  readonly index: number;
}

export class FieldTable {
  readonly #members: readonly TableMember[];
  /** The fields, sorted by number. */
  readonly #fields: readonly TableField[];
  readonly #byNumber: ReadonlyMap<number, TableField>;
  readonly #flat: readonly { readonly index: number; readonly oneof: FlatOneof }[];
  readonly #absent: readonly ((r: ProtobufReader, hasUnknown: boolean) => unknown)[];

  constructor(members: readonly TableMember[]) {
    this.#members = members;
    const fields = members.flatMap(({ codec, flat, number, unpacked }, index): TableField[] => {
      if (flat) return flatFields(codec, index);
      const place = memberFieldOf(codec);
      return [{ ...place, ...(unpacked && { write: writeUnpacked(codec) }), number, index }];
    });
    this.#fields = fields.sort((a, b) => a.number - b.number);
    this.#byNumber = new Map(fields.map((field) => [field.number, field]));
    this.#flat = members.flatMap(({ codec, flat }, index) => (flat ? [{ index, oneof: flatOneofOf(codec) }] : []));
    this.#absent = members.map(({ codec, flat }) => {
      const oneof = flat ? flatOneofOf(codec) : undefined;
      const place = flat ? undefined : memberFieldOf(codec);
      return (r, hasUnknown) => (oneof === undefined ? place?.absent(r) : absentFlatOneof(oneof, hasUnknown));
    });
  }

  /** @param values one for each member, in order */
  write(w: ProtobufWriter, values: readonly unknown[]): void {
    for (const { index, oneof } of this.#flat) {
      this.#atMember(index, w.tracing, () => checkFlatOneof(oneof, values[index]));
    }
    for (const field of this.#fields) {
      const { index, number } = field;
      this.#atMember(index, w.tracing, () => field.write(w, number, values[index]));
    }
  }

  /**
   * Reads fields up to `end`.
   * @param values one for each member, undefined if not read yet; receives the values that are read
   * @param keep receives unknown fields, appended to those that it contains; without it they are dropped
   */
  read(r: ProtobufReader, end: number, values: unknown[], keep?: KeptUnknownFields): void {
    while (r.position < end) {
      const tag = r.tag();
      const field = this.#byNumber.get(tag >>> 3);
      if (field?.acceptsWireType(tag & 7)) {
        const { index } = field;
        // Null stands for an absent value, into which nothing can be merged.
        values[index] = this.#atMember(index, r.tracing, () => field.read(r, tag & 7, values[index] ?? undefined));
      } else if (keep !== undefined) keep.unknown = r.unknown(tag, keep.unknown);
      else r.skip(tag);
    }
    const hasUnknown = keep?.unknown !== undefined;
    for (const [index, absent] of this.#absent.entries()) {
      if (values[index] === undefined) values[index] = this.#atMember(index, r.tracing, () => absent(r, hasUnknown));
    }
  }

  #atMember<T>(index: number, tracing: boolean, step: () => T): T {
    return atSegment((this.#members[index] as TableMember).segment, tracing, step);
  }
}

function writeUnpacked(codec: Codec<unknown>): TableField["write"] {
  const form = protoFormOf(codec);
  const write = form.kind === "repeated" ? form.writeEach : undefined;
  if (write === undefined) throw new Error(`cannot leave ${codec.name} unpacked: it is no array`);
  return (w, number, value) => write(w, number, value);
}

/** Unknown fields of the message that is being read. */
export interface KeptUnknownFields {
  unknown: Uint8Array | undefined;
}

interface FlatOneof {
  readonly name: string;
  readonly choices: ChoiceFields;
  /** The value of a oneof without a case, or undefined if such a oneof is refused. */
  readonly absent: { readonly value: null | undefined } | undefined;
}

function flatOneofOf(codec: Codec<unknown>): FlatOneof {
  const form = protoFormOf(codec);
  if (form.kind === "maybe") return { ...flatOneofOf(form.inner), absent: { value: form.absent } };
  if (form.kind === "message" && form.cases !== undefined) {
    return { name: codec.name || "oneof", choices: new ChoiceFields(form.cases()), absent: undefined };
  }
  throw new Error(`cannot make the cases of ${codec.name} fields of a message: it is no oneof`);
}

interface CaseValue {
  readonly case: unknown;
  readonly value: unknown;
}

function flatFields(codec: Codec<unknown>, index: number): TableField[] {
  const { choices } = flatOneofOf(codec);
  return [...choices].map(({ name, number, element }) => ({
    number,
    index,
    write(w, number, value) {
      const { case: chosen, value: inner } = (value ?? {}) as CaseValue;
      if (chosen === name) atSegment("value", w.tracing, () => element.write(w, number, inner));
    },
    acceptsWireType: (wire) => wire === element.wire,
    read(r, _, into) {
      const before = into as CaseValue | undefined;
      const earlier = before?.case === name ? before.value : undefined;
      return { case: name, value: atSegment("value", r.tracing, () => element.read(r, earlier)) };
    },
    absent: () => undefined,
  }));
}

/** Refuses a value that is not a case of a flat oneof. Otherwise no field would be written for it. */
function checkFlatOneof({ name, choices, absent }: FlatOneof, value: unknown): void {
  if (absent !== undefined && value === absent.value) return;
  if (typeof value !== "object" || value === null) throw invalidValue(name, "an object", value);
  const chosen = (value as CaseValue).case;
  if (choices.named(chosen) !== undefined || chosen === unknownCase) return;
  throw invalidValue(name, `case to be ${listNames([...choices].map((choice) => choice.name))}`, chosen);
}

function absentFlatOneof({ name, choices, absent }: FlatOneof, hasUnknown: boolean): unknown {
  if (absent !== undefined) return absent.value;
  // The field of the unknown case is one of the unknown fields.
  if (hasUnknown) return { case: unknownCase, value: undefined };
  throw choices.missingError(name);
}
