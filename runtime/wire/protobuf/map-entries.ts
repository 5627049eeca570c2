/** Maps and records: an entry is a message with the key and the value. */
import { describeValue } from "../../../shared/text/describe-value.js";
import type { Codec } from "../codec.js";
import type { PathSegment } from "../codec-refusal.js";
import { FieldTable } from "./field-table.js";
import { atSegment, type SingleField, singleFieldOf, tagOf } from "./member-field.js";
import { type ProtoMapForm, protoFormOf } from "./proto-form.js";
import type { ProtobufReader } from "./reader.js";
import type { ProtobufWriter } from "./writer.js";

/** Writes and reads the entries of a map with the given codecs of keys and values. */
export class MapEntries {
  readonly key: Codec<unknown>;
  readonly value: Codec<unknown>;
  #resolved: EntryStrategy | undefined;

  constructor(key: Codec<unknown>, value: Codec<unknown>) {
    this.key = key;
    this.value = value;
  }

  get isNativeMap(): boolean {
    return this.#plan.table === undefined;
  }

  get #plan(): EntryStrategy {
    this.#resolved ??= isNativeKey(this.key)
      ? { key: singleFieldOf(this.key), value: singleFieldOf(this.value), table: undefined }
      : { table: entryTable(this.key, this.value) };
    return this.#resolved;
  }

  write(w: ProtobufWriter, number: number, entries: readonly (readonly [unknown, unknown])[]): void {
    const plan = this.#plan;
    for (let i = 0; i < entries.length; i++) {
      const [key, value] = entries[i] as readonly [unknown, unknown];
      const start = w.begin(tagOf(number, 2));
      if (plan.table !== undefined) plan.table.write(w, [key, value]);
      else {
        atSegment(keySegment(i), w.tracing, () => plan.key.write(w, 1, key));
        atSegment(w.tracing ? valueSegment(key) : "", w.tracing, () => plan.value.write(w, 2, value));
      }
      w.end(start);
    }
  }

  read(r: ProtobufReader, set: (key: unknown, value: unknown) => void): void {
    const plan = this.#plan;
    const end = r.enter();
    if (plan.table !== undefined) {
      const values: unknown[] = [];
      plan.table.read(r, end, values);
      set(values[0], values[1]);
    } else readNativeEntry(r, end, plan, set);
    r.leave(end);
  }
}

type EntryStrategy =
  | { readonly key: SingleField; readonly value: SingleField; readonly table: undefined }
  | { readonly table: FieldTable };

function readNativeEntry(
  r: ProtobufReader,
  end: number,
  plan: { readonly key: SingleField; readonly value: SingleField },
  set: (key: unknown, value: unknown) => void,
): void {
  let key: unknown;
  let value: unknown;
  const segment = (): PathSegment => (r.tracing ? valueSegment(key) : "");
  while (r.position < end) {
    const tag = r.tag();
    if (tag === tagOf(1, plan.key.wire)) key = plan.key.read(r, undefined);
    else if (tag === tagOf(2, plan.value.wire)) {
      value = atSegment(segment(), r.tracing, () => plan.value.read(r, value));
    } else r.skip(tag);
  }
  // A key or a value that is missing has its default.
  if (key === undefined) key = plan.key.absent(r);
  set(key, value === undefined ? atSegment(segment(), r.tracing, () => plan.value.absent(r)) : value);
}

/** Returns the fields of an entry whose map protobuf does not support. The entry is an ordinary message. */
function entryTable(key: Codec<unknown>, value: Codec<unknown>): FieldTable {
  return new FieldTable([
    { codec: key, number: 1, segment: { text: ".keys()" } },
    { codec: value, number: 2, segment: { text: ".values()" } },
  ]);
}

/** Returns whether protobuf allows the type as a map key: integers, booleans and strings. */
function isNativeKey(key: Codec<unknown>): boolean {
  const form = protoFormOf(key);
  return form.kind === "scalar" && !["double", "float", "bytes"].includes(form.scalar);
}

/** Makes the form of a map or a record. The parameters contain the differences between the two. */
export function mapForm<T>(
  entries: MapEntries,
  kind: {
    empty(): T;
    entries(map: T): readonly (readonly [unknown, unknown])[];
    set(map: T, k: unknown, v: unknown): void;
  },
): ProtoMapForm<T> {
  return {
    kind: "map",
    key: entries.key,
    value: entries.value,
    get isNativeMap() {
      return entries.isNativeMap;
    },
    empty: () => kind.empty(),
    write: (w, number, map) => entries.write(w, number, kind.entries(map)),
    acceptsWireType: (wire) => wire === 2,
    read(r, _, into = kind.empty()) {
      entries.read(r, (key, value) => kind.set(into, key, value));
      return into;
    },
  };
}

/** Returns the path segment of a key: `.keys()[2]` for the third one. */
export function keySegment(index: number): PathSegment {
  return { text: `.keys()[${index}]` };
}

/** Returns the path segment of the value of a key: `["a"]`. */
export function valueSegment(key: unknown): PathSegment {
  return { text: `[${describeValue(key)}]` };
}
