/** What the JSON mapping needs of a codec beyond its structure, and what it passes along. */
import type { JsonValue } from "../../../shared/vocabulary.js";
import type { Codec, JsonReadOptions } from "../codec.js";
import { CodecRefusal } from "../codec-refusal.js";
import { MAX_DEPTH } from "../limits.js";
import { targetOf } from "../protobuf/message-structure.js";

/** One conversion of a whole message. */
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

  /** One message deeper. */
  enter(): void {
    if (++this.#depth > MAX_DEPTH) throw new CodecRefusal(`nested deeper than ${MAX_DEPTH}`);
  }

  leave(): void {
    this.#depth--;
  }
}

/** The JSON of a type that is not written by its structure: of `Date`, and of well-known types. */
export interface JsonForm<T = unknown> {
  /** The value of JSON's null, where that means something; elsewhere null is as if nothing was there. */
  readonly nullValue?: T;
  /** What stands for a value that is missing. */
  absent(): T;
  /** @throws Refused */
  write(run: JsonConversion, value: T): JsonValue;
  /** @throws Refused */
  read(run: JsonConversion, json: unknown): T;
}

/** Undefined: it is written by its structure. */
export function jsonFormOf<T>(codec: Codec<T>): JsonForm<T> | undefined {
  return (targetOf(codec) as { readonly jsonForm?: JsonForm<T> }).jsonForm;
}

/** A JSON object. */
export function isJsonObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

/** The entries as an object. `__proto__` is a key like any other. */
export function jsonObject(entries: Iterable<readonly [string, JsonValue]>): { [key: string]: JsonValue } {
  return Object.fromEntries(entries);
}
