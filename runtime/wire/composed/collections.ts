/** Codecs of maps, sets and records: a count of four bytes, followed by the slots of the entries. */
import { describeValue } from "../../../shared/text/describe-value.js";
import type { Codec } from "../codec.js";
import { CodecRefusal } from "../codec-refusal.js";
import { isRecord } from "../is-record.js";
import { keySegment, MapEntries, mapForm, valueSegment } from "../protobuf/map-entries.js";
import type { ProtoMapForm, ProtoRepeatedForm } from "../protobuf/proto-form.js";
import { defineProperty } from "../protobuf/reader.js";
import { RepeatedField } from "../protobuf/repeated-field.js";
import type { Reader } from "../reader.js";
import { invalidValue, readPart, writePart } from "../traced-part.js";
import type { Writer } from "../writer.js";
import { ComposedCodec, fingerprintHex } from "./composed-codec.js";
import { string } from "./scalars.js";

export class MapCodec<K, V> extends ComposedCodec<Map<K, V>> {
  readonly slot = 4;
  readonly #key: Codec<K>;
  readonly #value: Codec<V>;
  #entries: MapEntries | undefined;

  constructor(key: Codec<K>, value: Codec<V>) {
    super();
    this.#key = key;
    this.#value = value;
  }

  /** Determined on first use, since the codec of the keys may be in a module that is still being loaded. */
  get protoForm(): ProtoMapForm<Map<K, V>> {
    this.#entries ??= new MapEntries(this.#key as Codec<unknown>, this.#value as Codec<unknown>);
    return mapForm<Map<K, V>>(this.#entries, {
      empty: () => new Map(),
      entries(map) {
        if (!(map instanceof Map)) throw invalidValue("Map", "a Map", map);
        return [...map];
      },
      set: (map, key, value) => map.set(key as K, value as V),
    });
  }

  get name(): string {
    return `Map<${this.#key.name}, ${this.#value.name}>`;
  }

  parts(): readonly Codec<unknown>[] {
    return [this.#key, this.#value];
  }

  protected fingerprintText(): string {
    return `map(${fingerprintHex(this.#key)},${fingerprintHex(this.#value)})`;
  }

  write(w: Writer, at: number, map: Map<K, V>): void {
    if (!(map instanceof Map)) throw invalidValue("Map", "a Map", map);
    writeEntries(w, at, [...map], this.#key, this.#value);
  }

  read(r: Reader, at: number): Map<K, V> {
    const map = new Map<K, V>();
    readEntries(r, at, this.#key, this.#value, (key, value) => map.set(key, value).size);
    return map;
  }
}

/** The codec of `Record<string, T>`. `__proto__` is an ordinary key. */
export class RecordCodec<V> extends ComposedCodec<Record<string, V>> {
  readonly slot = 4;
  readonly protoForm: ProtoMapForm<Record<string, V>>;
  readonly #value: Codec<V>;

  constructor(value: Codec<V>) {
    super();
    this.#value = value;
    this.protoForm = mapForm<Record<string, V>>(new MapEntries(string, value as Codec<unknown>), {
      empty: () => ({}),
      entries(record) {
        if (!isRecord(record)) throw invalidValue("Record", "an object", record);
        return Object.entries(record);
      },
      set: (record, key, value) => defineProperty(record, key as string, value),
    });
  }

  get name(): string {
    return `Record<string, ${this.#value.name}>`;
  }

  parts(): readonly Codec<unknown>[] {
    return [string, this.#value];
  }

  protected fingerprintText(): string {
    return `record(${fingerprintHex(this.#value)})`;
  }

  write(w: Writer, at: number, record: Record<string, V>): void {
    if (!isRecord(record)) throw invalidValue("Record", "an object", record);
    writeEntries(w, at, Object.entries(record), string, this.#value);
  }

  read(r: Reader, at: number): Record<string, V> {
    const map = new Map<string, V>();
    readEntries(r, at, string, this.#value, (key, value) => map.set(key, value).size);
    return Object.fromEntries(map);
  }
}

export class SetCodec<T> extends ComposedCodec<Set<T>> {
  readonly slot = 4;
  readonly protoForm: ProtoRepeatedForm<Set<T>>;
  readonly #element: Codec<T>;

  constructor(element: Codec<T>) {
    super();
    this.#element = element;
    const list = new RepeatedField(element as Codec<unknown>);
    this.protoForm = {
      kind: "repeated",
      element: element as Codec<unknown>,
      empty: () => new Set(),
      write(w, number, value) {
        if (!(value instanceof Set)) throw invalidValue("Set", "a Set", value);
        list.write(w, number, [...value]);
      },
      acceptsWireType: (wire) => list.acceptsWireType(wire),
      read(r, wire, into = new Set()) {
        const elements: unknown[] = [];
        list.read(r, wire, elements, into.size);
        for (const value of elements) into.add(value as T);
        return into;
      },
    };
  }

  get name(): string {
    return `Set<${this.#element.name}>`;
  }

  parts(): readonly Codec<unknown>[] {
    return [this.#element];
  }

  protected fingerprintText(): string {
    return `set(${fingerprintHex(this.#element)})`;
  }

  write(w: Writer, at: number, set: Set<T>): void {
    if (!(set instanceof Set)) throw invalidValue("Set", "a Set", set);
    w.view.setUint32(at, set.size, true);
    const element = this.#element;
    let slot = w.reserve(set.size * element.slot);
    for (const [i, value] of [...set].entries()) {
      writePart(w, element, slot, value, i);
      slot += element.slot;
    }
  }

  read(r: Reader, at: number): Set<T> {
    const element = this.#element;
    const n = r.view.getUint32(at, true);
    let slot = r.take(n * element.slot);
    const set = new Set<T>();
    for (let i = 0; i < n; i++) {
      const value = readPart(r, element, slot, i);
      if (set.add(value).size <= i) throw new CodecRefusal(`invalid Set: ${describeValue(value)} is in it twice`);
      slot += element.slot;
    }
    return set;
  }
}

function writeEntries<K, V>(w: Writer, at: number, entries: readonly [K, V][], key: Codec<K>, value: Codec<V>): void {
  w.view.setUint32(at, entries.length, true);
  let slot = w.reserve(entries.length * (key.slot + value.slot));
  for (const [i, entry] of entries.entries()) {
    writePart(w, key, slot, entry[0], keySegment(i));
    writePart(w, value, slot + key.slot, entry[1], w.tracing ? valueSegment(entry[0]) : "");
    slot += key.slot + value.slot;
  }
}

function readEntries<K, V>(
  r: Reader,
  at: number,
  key: Codec<K>,
  value: Codec<V>,
  add: (key: K, value: V) => number,
): void {
  const n = r.view.getUint32(at, true);
  let slot = r.take(n * (key.slot + value.slot));
  for (let i = 0; i < n; i++) {
    const k = readPart(r, key, slot, keySegment(i));
    const v = readPart(r, value, slot + key.slot, r.tracing ? valueSegment(k) : "");
    if (add(k, v) <= i) throw new CodecRefusal(`invalid Map: the key ${describeValue(k)} is in it twice`);
    slot += key.slot + value.slot;
  }
}
