/** Maps and records: an entry is a message with the key and the value. */
import type { Codec } from "../codec.js";
import { type Segment, show } from "../refused.js";
import { type Element, elementOf, tagOf, within } from "./place.js";
import { type MapPosition, positionOf } from "./position.js";
import type { ProtobufReader } from "./reader.js";
import { FieldTable } from "./table.js";
import type { ProtobufWriter } from "./writer.js";

/** How the entries of maps with these keys and values are put. */
export class MapEntries {
  readonly key: Codec<unknown>;
  readonly value: Codec<unknown>;
  #found: EntryPlan | undefined;

  constructor(key: Codec<unknown>, value: Codec<unknown>) {
    this.key = key;
    this.value = value;
  }

  get native(): boolean {
    return this.#plan.table === undefined;
  }

  get #plan(): EntryPlan {
    this.#found ??= isNativeKey(this.key)
      ? { key: elementOf(this.key), value: elementOf(this.value), table: undefined }
      : { table: entryTable(this.key, this.value) };
    return this.#found;
  }

  write(w: ProtobufWriter, number: number, entries: readonly (readonly [unknown, unknown])[]): void {
    const plan = this.#plan;
    for (let i = 0; i < entries.length; i++) {
      const [key, value] = entries[i] as readonly [unknown, unknown];
      const start = w.begin(tagOf(number, 2));
      if (plan.table !== undefined) plan.table.write(w, [key, value]);
      else {
        within(keySegment(i), w.tracing, () => plan.key.write(w, 1, key));
        within(w.tracing ? valueSegment(key) : "", w.tracing, () => plan.value.write(w, 2, value));
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
    } else readNative(r, end, plan, set);
    r.leave(end);
  }
}

type EntryPlan =
  | { readonly key: Element; readonly value: Element; readonly table: undefined }
  | { readonly table: FieldTable };

function readNative(
  r: ProtobufReader,
  end: number,
  plan: { readonly key: Element; readonly value: Element },
  set: (key: unknown, value: unknown) => void,
): void {
  let key: unknown;
  let value: unknown;
  const segment = (): Segment => (r.tracing ? valueSegment(key) : "");
  while (r.position < end) {
    const tag = r.tag();
    if (tag === tagOf(1, plan.key.wire)) key = plan.key.read(r, undefined);
    else if (tag === tagOf(2, plan.value.wire)) {
      value = within(segment(), r.tracing, () => plan.value.read(r, value));
    } else r.skip(tag);
  }
  // Entries without key or without value have the defaults.
  if (key === undefined) key = plan.key.absent(r);
  set(key, value === undefined ? within(segment(), r.tracing, () => plan.value.absent(r)) : value);
}

/** Entries that protobuf has no maps for are messages like any other. */
function entryTable(key: Codec<unknown>, value: Codec<unknown>): FieldTable {
  return new FieldTable([
    { codec: key, number: 1, segment: { text: ".keys()" } },
    { codec: value, number: 2, segment: { text: ".values()" } },
  ]);
}

/** Integers, booleans and strings. */
function isNativeKey(key: Codec<unknown>): boolean {
  const position = positionOf(key);
  return position.kind === "scalar" && !["double", "float", "bytes"].includes(position.scalar);
}

/** What maps and records have in common, over what they do differently. */
export function mapPosition<T>(
  entries: MapEntries,
  kind: {
    empty(): T;
    entries(map: T): readonly (readonly [unknown, unknown])[];
    set(map: T, k: unknown, v: unknown): void;
  },
): MapPosition<T> {
  return {
    kind: "map",
    key: entries.key,
    value: entries.value,
    get native() {
      return entries.native;
    },
    empty: () => kind.empty(),
    write: (w, number, map) => entries.write(w, number, kind.entries(map)),
    reads: (wire) => wire === 2,
    read(r, _, into = kind.empty()) {
      entries.read(r, (key, value) => kind.set(into, key, value));
      return into;
    },
  };
}

/** `tags.keys()[2]`: the third key. */
export function keySegment(index: number): Segment {
  return { text: `.keys()[${index}]` };
}

/** `tags["a"]`. */
export function valueSegment(key: unknown): Segment {
  return { text: `[${show(key)}]` };
}
