/** The JSON of dates and of well-known types, where it is not that of a message. */
import type { Any, Duration, FieldMask, JsonValue, Timestamp } from "../../../shared/vocabulary.js";
import type { Codec } from "../codec.js";
import { structureOf } from "../protobuf/structure.js";
import { invalid, located, messageOf, Refused, show } from "../refused.js";
import { formatPath, parsePath } from "./field-mask.js";
import { isJsonObject, type JsonForm, type JsonRun, jsonFormOf, jsonObject } from "./form.js";
import { within } from "./path.js";
import { readValue, readWhole } from "./read.js";
import { text } from "./scalars.js";
import { formatDuration, formatTimestamp, type Instant, parseDuration, parseTimestamp } from "./time.js";
import { writeValue, writeWhole } from "./write.js";

const range = "from 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z";

export const timestampForm: JsonForm<Timestamp> = {
  absent: () => ({ seconds: 0n, nanos: 0 }),
  write(_, value) {
    return written("Timestamp", formatTimestamp(checked(value)), `a time ${range}`, value);
  },
  read: (_, json) => readText("Timestamp", parseTimestamp, `a time as in RFC 3339, ${range}`, json),
};

export const durationForm: JsonForm<Duration> = {
  absent: () => ({ seconds: 0n, nanos: 0 }),
  write(_, value) {
    const expected = "up to 315576000000 seconds, and nanoseconds of the same sign below a second";
    return written("Duration", formatDuration(checked(value)), expected, value);
  },
  read: (_, json) => readText("Duration", parseDuration, 'up to 315576000000 seconds, as "1.5s"', json),
};

/** Whole milliseconds; what is finer is cut off. */
export const dateForm: JsonForm<Date> = {
  absent: () => new Date(0),
  write(_, value) {
    if (!(value instanceof Date)) throw invalid("date", "a Date", value);
    const time = value.getTime();
    if (Number.isNaN(time)) throw invalid("date", "a valid Date", "Invalid Date");
    const seconds = Math.floor(time / 1000);
    const nanos = (time - seconds * 1000) * 1_000_000;
    return written(
      "date",
      formatTimestamp({ seconds: BigInt(seconds), nanos }),
      `a Date ${range}`,
      value.toISOString(),
    );
  },
  read(_, json) {
    const { seconds, nanos } = readText("date", parseTimestamp, `a time as in RFC 3339, ${range}`, json);
    return new Date(Number(seconds) * 1000 + Math.floor(nanos / 1_000_000));
  },
};

export const fieldMaskForm: JsonForm<FieldMask> = {
  absent: () => ({ paths: [] }),
  write(_, value) {
    if (!Array.isArray(value?.paths)) throw invalid("FieldMask", "an object with paths", value);
    const paths = value.paths.map((path, i) =>
      within({ text: `.paths[${i}]` }, () => {
        const formatted = typeof path === "string" ? formatPath(path) : undefined;
        return written("path", formatted, "names in snake case, with dots between them", path) as string;
      }),
    );
    return paths.join(",");
  },
  read(_, json) {
    if (typeof json !== "string") throw invalid("FieldMask", "a string", json);
    if (json === "") return { paths: [] };
    return {
      paths: json.split(",").map((path) => {
        const parsed = parsePath(path);
        if (parsed === undefined)
          throw invalid("FieldMask", "paths in lower camel case, with commas between them", json);
        return parsed;
      }),
    };
  },
};

export const nullForm: JsonForm<null> = {
  ofNull: null,
  absent: () => null,
  write(_, value) {
    if (value !== null) throw invalid("NullValue", "null", value);
    return null;
  },
  read(_, json) {
    if (json !== null && json !== "NULL_VALUE" && typeof json !== "number") throw invalid("NullValue", "null", json);
    return null;
  },
};

/** A `Value`, or what is in it: anything that JSON has. It is copied, and so checked. */
export const valueForm: JsonForm<JsonValue> = {
  ofNull: null,
  absent: () => null,
  write: copy,
  read: copy,
};

export const structForm: JsonForm<Record<string, JsonValue>> = {
  absent: () => ({}),
  write: copyObject,
  read: copyObject,
};

export const listForm: JsonForm<JsonValue[]> = {
  absent: () => [],
  write: copyArray,
  read: copyArray,
};

function copy(run: JsonRun, value: unknown): JsonValue {
  switch (typeof value) {
    case "boolean":
      return value;
    case "string":
      return text(value);
    case "number":
      if (Number.isFinite(value)) return value;
      throw invalid("JsonValue", "a number that JSON has", value);
    case "object":
      if (value === null) return null;
      return Array.isArray(value) ? copyArray(run, value) : copyObject(run, value);
    default:
      throw invalid("JsonValue", "null, a boolean, a number, a string, an array or a plain object", value);
  }
}

function copyArray(run: JsonRun, value: unknown): JsonValue[] {
  if (!Array.isArray(value)) throw invalid("ListValue", "an array", value);
  run.enter();
  const items = Array.from(value, (item, i) => within(i, () => copy(run, item)));
  run.leave();
  return items;
}

function copyObject(run: JsonRun, value: unknown): { [key: string]: JsonValue } {
  if (!isJsonObject(value) || !isPlain(value)) throw invalid("Struct", "a plain object", value);
  run.enter();
  const entries = Object.entries(value).map(([key, item]) =>
    within(key, (): readonly [string, JsonValue] => [text(key), copy(run, item)]),
  );
  run.leave();
  return jsonObject(entries);
}

/** Objects of classes are no JSON: a `Map` would be written as an object of nothing. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** A wrapper is written as what it wraps. */
export function wrapperForm<T>(name: string, inner: Codec<T>, zero: () => T): JsonForm<{ value: T }> {
  const codec = inner as Codec<unknown>;
  return {
    absent: () => ({ value: zero() }),
    write(run, value) {
      if (!isJsonObject(value)) throw invalid(name, "an object", value);
      return writeValue(run, codec, value.value);
    },
    read: (run, json) => ({ value: readValue(run, codec, json) as T }),
  };
}

/** @param known codecs of well-known types, by their names in `google.protobuf` */
export function anyForm(known: () => ReadonlyMap<string, Codec<unknown>>): JsonForm<Any> {
  const find = (run: JsonRun, url: string): Codec<unknown> => {
    const slash = url.lastIndexOf("/");
    if (slash < 0) throw invalid("Any", "a type URL, as type.googleapis.com/example.v1.Tree", url);
    const name = url.slice(slash + 1);
    const found = known().get(name) ?? run.registry.find((codec) => structureOf(codec).type === name);
    if (found === undefined) throw new Refused(`invalid Any: no codec for ${show(name)} is in the registry`);
    return found;
  };
  return {
    absent: () => ({ typeUrl: "", value: new Uint8Array(0) }),
    write(run, value) {
      const { typeUrl, value: bytes } = value ?? {};
      if (typeof typeUrl !== "string") throw invalid("Any", "an object with typeUrl", value);
      if (!(bytes instanceof Uint8Array)) throw invalid("Any", "an object with a value of bytes", value);
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
      if (!isJsonObject(json)) throw invalid("Any", "an object", json);
      const { "@type": typeUrl, ...fields } = json;
      if (typeUrl === undefined && Object.keys(fields).length === 0) return { typeUrl: "", value: new Uint8Array(0) };
      if (typeof typeUrl !== "string") throw invalid("Any", 'a type URL under "@type"', typeUrl);
      const codec = find(run, typeUrl);
      const hasForm = jsonFormOf(codec) !== undefined;
      if (hasForm) requireValueAlone(run, fields);
      run.enter();
      const value = hasForm
        ? within("value", () => readWhole(run, codec, fields["value"]))
        : readWhole(run, codec, fields);
      run.leave();
      return { typeUrl, value: withReason(() => codec.toProtobuf(value)) };
    },
  };
}

/** What has a form of its own stands under "value". */
function requireValueAlone(run: JsonRun, fields: object): void {
  if (!Object.hasOwn(fields, "value")) throw new Refused('invalid Any: "value" is missing');
  const other = Object.keys(fields).find((key) => key !== "value");
  if (other !== undefined && !run.ignoreUnknown) throw located(new Refused("there is no such field"), other);
}

/** What is wrong with the message inside, as a reason of what is around it. */
function withReason<T>(step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw new Refused(`invalid Any: ${messageOf(error)}`, { cause: error });
  }
}

function checked(value: Instant): Instant {
  const { seconds, nanos } = value ?? {};
  if (typeof seconds !== "bigint") throw located(invalid("int64", "a bigint", seconds), "seconds");
  if (!Number.isInteger(nanos)) throw located(invalid("int32", "an integer", nanos), "nanos");
  return value;
}

function written(type: string, text: string | undefined, expected: string, value: unknown): JsonValue {
  if (text === undefined) throw invalid(type, expected, value);
  return text;
}

function readText<T>(type: string, parse: (text: string) => T | undefined, expected: string, json: unknown): T {
  const value = typeof json === "string" ? parse(json) : undefined;
  if (value === undefined) throw invalid(type, expected, json);
  return value;
}
