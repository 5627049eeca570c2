/** The special JSON forms of dates and well-known types. */
import { describeValue } from "../../../shared/text/describe-value.js";
import { errorMessage } from "../../../shared/text/error-message.js";
import type { Any, Duration, FieldMask, JsonValue, Timestamp } from "../../../shared/vocabulary.js";
import type { Codec } from "../codec.js";
import { CodecRefusal, invalidValue, withPathSegment } from "../codec-refusal.js";
import { structureOf } from "../protobuf/message-structure.js";
import { atSegment } from "./error-path.js";
import { formatPath, parsePath } from "./field-mask.js";
import { isJsonObject, type JsonConversion, type JsonForm, jsonFormOf, jsonObject } from "./json-form.js";
import { readValue, readWhole } from "./read.js";
import { checkJsonText } from "./scalars.js";
import { formatDuration, formatTimestamp, type Instant, parseDuration, parseTimestamp } from "./time.js";
import { writeValue, writeWhole } from "./write.js";

const timestampRange = "from 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z";

export const timestampForm: JsonForm<Timestamp> = {
  absent: () => ({ seconds: 0n, nanos: 0 }),
  write(_, value) {
    return requireWritten("Timestamp", formatTimestamp(requireInstant(value)), `a time ${timestampRange}`, value);
  },
  read: (_, json) => readText("Timestamp", parseTimestamp, `a time as in RFC 3339, ${timestampRange}`, json),
};

export const durationForm: JsonForm<Duration> = {
  absent: () => ({ seconds: 0n, nanos: 0 }),
  write(_, value) {
    const expected = "up to 315576000000 seconds, and nanoseconds of the same sign below a second";
    return requireWritten("Duration", formatDuration(requireInstant(value)), expected, value);
  },
  read: (_, json) => readText("Duration", parseDuration, 'up to 315576000000 seconds, as "1.5s"', json),
};

/** The form of a Date. Fractions of a millisecond are cut off. */
export const dateForm: JsonForm<Date> = {
  absent: () => new Date(0),
  write(_, value) {
    if (!(value instanceof Date)) throw invalidValue("date", "a Date", value);
    const time = value.getTime();
    if (Number.isNaN(time)) throw invalidValue("date", "a valid Date", "Invalid Date");
    const seconds = Math.floor(time / 1000);
    const nanos = (time - seconds * 1000) * 1_000_000;
    return requireWritten(
      "date",
      formatTimestamp({ seconds: BigInt(seconds), nanos }),
      `a Date ${timestampRange}`,
      value.toISOString(),
    );
  },
  read(_, json) {
    const { seconds, nanos } = readText("date", parseTimestamp, `a time as in RFC 3339, ${timestampRange}`, json);
    return new Date(Number(seconds) * 1000 + Math.floor(nanos / 1_000_000));
  },
};

export const fieldMaskForm: JsonForm<FieldMask> = {
  absent: () => ({ paths: [] }),
  write(_, value) {
    if (!Array.isArray(value?.paths)) throw invalidValue("FieldMask", "an object with paths", value);
    const paths = value.paths.map((path, i) =>
      atSegment({ text: `.paths[${i}]` }, () => {
        const formatted = typeof path === "string" ? formatPath(path) : undefined;
        return requireWritten("path", formatted, "names in snake case, with dots between them", path) as string;
      }),
    );
    return paths.join(",");
  },
  read(_, json) {
    if (typeof json !== "string") throw invalidValue("FieldMask", "a string", json);
    if (json === "") return { paths: [] };
    return {
      paths: json.split(",").map((path) => {
        const parsed = parsePath(path);
        if (parsed === undefined)
          throw invalidValue("FieldMask", "paths in lower camel case, with commas between them", json);
        return parsed;
      }),
    };
  },
};

export const nullForm: JsonForm<null> = {
  nullValue: null,
  absent: () => null,
  write(_, value) {
    if (value !== null) throw invalidValue("NullValue", "null", value);
    return null;
  },
  read(_, json) {
    if (json !== null && json !== "NULL_VALUE" && typeof json !== "number")
      throw invalidValue("NullValue", "null", json);
    return null;
  },
};

/** The form of any JSON value. It is copied, which checks it. */
export const valueForm: JsonForm<JsonValue> = {
  nullValue: null,
  absent: () => null,
  write: copyJson,
  read: copyJson,
};

export const structForm: JsonForm<Record<string, JsonValue>> = {
  absent: () => ({}),
  write: copyJsonObject,
  read: copyJsonObject,
};

export const listForm: JsonForm<JsonValue[]> = {
  absent: () => [],
  write: copyJsonArray,
  read: copyJsonArray,
};

function copyJson(run: JsonConversion, value: unknown): JsonValue {
  switch (typeof value) {
    case "boolean":
      return value;
    case "string":
      return checkJsonText(value);
    case "number":
      if (Number.isFinite(value)) return value;
      throw invalidValue("JsonValue", "a number that JSON has", value);
    case "object":
      if (value === null) return null;
      return Array.isArray(value) ? copyJsonArray(run, value) : copyJsonObject(run, value);
    default:
      throw invalidValue("JsonValue", "null, a boolean, a number, a string, an array or a plain object", value);
  }
}

function copyJsonArray(run: JsonConversion, value: unknown): JsonValue[] {
  if (!Array.isArray(value)) throw invalidValue("ListValue", "an array", value);
  run.enter();
  const items = Array.from(value, (item, i) => atSegment(i, () => copyJson(run, item)));
  run.leave();
  return items;
}

function copyJsonObject(run: JsonConversion, value: unknown): { [key: string]: JsonValue } {
  if (!isJsonObject(value) || !isPlain(value)) throw invalidValue("Struct", "a plain object", value);
  run.enter();
  const entries = Object.entries(value).map(([key, item]) =>
    atSegment(key, (): readonly [string, JsonValue] => [checkJsonText(key), copyJson(run, item)]),
  );
  run.leave();
  return jsonObject(entries);
}

/** Returns whether an object is plain. Instances of classes are refused: a `Map` would become an empty object. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Returns the form of a wrapper message, which is the JSON of the wrapped value. */
export function wrapperForm<T>(name: string, inner: Codec<T>, zero: () => T): JsonForm<{ value: T }> {
  const codec = inner as Codec<unknown>;
  return {
    absent: () => ({ value: zero() }),
    write(run, value) {
      if (!isJsonObject(value)) throw invalidValue(name, "an object", value);
      return writeValue(run, codec, value.value);
    },
    read: (run, json) => ({ value: readValue(run, codec, json) as T }),
  };
}

/** @param known codecs of well-known types, by their names in `google.protobuf` */
export function anyForm(known: () => ReadonlyMap<string, Codec<unknown>>): JsonForm<Any> {
  const find = (run: JsonConversion, url: string): Codec<unknown> => {
    const slash = url.lastIndexOf("/");
    if (slash < 0) throw invalidValue("Any", "a type URL, as type.googleapis.com/example.v1.Tree", url);
    const name = url.slice(slash + 1);
    const found = known().get(name) ?? run.registry.find((codec) => structureOf(codec).type === name);
    if (found === undefined)
      throw new CodecRefusal(`invalid Any: no codec for ${describeValue(name)} is in the registry`);
    return found;
  };
  return {
    absent: () => ({ typeUrl: "", value: new Uint8Array(0) }),
    write(run, value) {
      const { typeUrl, value: bytes } = value ?? {};
      if (typeof typeUrl !== "string") throw invalidValue("Any", "an object with typeUrl", value);
      if (!(bytes instanceof Uint8Array)) throw invalidValue("Any", "an object with a value of bytes", value);
      if (typeUrl === "" && bytes.length === 0) return {};
      const codec = find(run, typeUrl);
      const inner = withReason(() => codec.fromProtobuf(bytes));
      run.enter();
      const json = writeWhole(run, codec, inner);
      run.leave();
      const hasForm = jsonFormOf(codec) !== undefined;
      return { "@type": typeUrl, ...(hasForm ? { value: json } : (json as Record<string, JsonValue>)) };
    },
    read(run, json) {
      if (!isJsonObject(json)) throw invalidValue("Any", "an object", json);
      const { "@type": typeUrl, ...fields } = json;
      if (typeUrl === undefined && Object.keys(fields).length === 0) return { typeUrl: "", value: new Uint8Array(0) };
      if (typeof typeUrl !== "string") throw invalidValue("Any", 'a type URL under "@type"', typeUrl);
      const codec = find(run, typeUrl);
      const hasForm = jsonFormOf(codec) !== undefined;
      if (hasForm) requireValueAlone(run, fields);
      run.enter();
      const value = hasForm
        ? atSegment("value", () => readWhole(run, codec, fields["value"]))
        : readWhole(run, codec, fields);
      run.leave();
      return { typeUrl, value: withReason(() => codec.toProtobuf(value)) };
    },
  };
}

/** Refuses members beside `@type` and `value`, which contains a message with a special form. */
function requireValueAlone(run: JsonConversion, fields: object): void {
  if (!Object.hasOwn(fields, "value")) throw new CodecRefusal('invalid Any: "value" is missing');
  const other = Object.keys(fields).find((key) => key !== "value");
  if (other !== undefined && !run.ignoreUnknown)
    throw withPathSegment(new CodecRefusal("there is no such field"), other);
}

/** Converts an error of the inner message to a refusal of the outer one. */
function withReason<T>(step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw new CodecRefusal(`invalid Any: ${errorMessage(error)}`, { cause: error });
  }
}

function requireInstant(value: Instant): Instant {
  const { seconds, nanos } = value ?? {};
  if (typeof seconds !== "bigint") throw withPathSegment(invalidValue("int64", "a bigint", seconds), "seconds");
  if (!Number.isInteger(nanos)) throw withPathSegment(invalidValue("int32", "an integer", nanos), "nanos");
  return value;
}

function requireWritten(type: string, text: string | undefined, expected: string, value: unknown): JsonValue {
  if (text === undefined) throw invalidValue(type, expected, value);
  return text;
}

function readText<T>(type: string, parse: (text: string) => T | undefined, expected: string, json: unknown): T {
  const value = typeof json === "string" ? parse(json) : undefined;
  if (value === undefined) throw invalidValue(type, expected, json);
  return value;
}
