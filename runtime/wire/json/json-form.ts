/** The special forms of types in the JSON mapping, and the state of a conversion. */
import type { JsonValue } from "../../../shared/vocabulary.js";
import type { Codec, JsonReadOptions } from "../codec.js";
import { CodecRefusal } from "../codec-refusal.js";
import { MAX_DEPTH } from "../limits.js";
import { targetOf } from "../protobuf/message-structure.js";

/** The state of the conversion of one message. */
export class JsonConversion {
  readonly options: JsonReadOptions;
  readonly registry: readonly Codec<unknown>[];
  readonly ignoreUnknown: boolean;
  #depth = 0;

  constructor(options: JsonReadOptions = {}) {
    this.options = options;
    this.registry = options.registry ?? [];
    this.ignoreUnknown = options.ignoreUnknownFields ?? false;
  }

  /** Enters a nested message. Refuses too many levels. */
  enter(): void {
    if (++this.#depth > MAX_DEPTH) throw new CodecRefusal(`nested deeper than ${MAX_DEPTH}`);
  }

  leave(): void {
    this.#depth--;
  }
}

/** Writes and reads the special JSON form of a type: of `Date` and well-known types. */
export interface JsonForm<T = unknown> {
  /** The value of JSON's null; undefined if null represents a missing value. */
  readonly nullValue?: T;
  /** Returns the value of a member that is missing. */
  absent(): T;
  /** @throws {CodecRefusal} */
  write(run: JsonConversion, value: T): JsonValue;
  /** @throws {CodecRefusal} */
  read(run: JsonConversion, json: unknown): T;
}

/** Returns the special form of a codec; undefined if its JSON follows its structure. */
export function jsonFormOf<T>(codec: Codec<T>): JsonForm<T> | undefined {
  return (targetOf(codec) as { readonly jsonForm?: JsonForm<T> }).jsonForm;
}

/** Returns whether a value is a JSON object. */
export function isJsonObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

/** Makes an object of entries. `__proto__` is an ordinary key. */
export function jsonObject(entries: Iterable<readonly [string, JsonValue]>): { [key: string]: JsonValue } {
  return Object.fromEntries(entries);
}
