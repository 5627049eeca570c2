/**
 * Values and bytes: values survive a round trip, and messages are exchanged with the capnp tool in both directions. The
 * generated code is run as it is in the golden folder.
 */
import path from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { peer, runPeer } from "../../../peers.js";
import { cases, compileCase } from "./compile.js";
import * as kinds from "./golden/kinds/capnp/kinds.js";
import type { Everything } from "./golden/kinds/kinds.js";
import { valuesOf } from "./values.js";

const golden = fileURLToPath(new URL("golden/", import.meta.url));

/** A type that can be a whole message: it is exported and contains no handles. */
interface Root {
  readonly case: string;
  readonly type: string;
  readonly file: string;
  /** The name of the struct in the .capnp file. */
  readonly struct: string;
  readonly values: fc.Arbitrary<unknown>;
  readonly write: (value: unknown) => Uint8Array;
  readonly decode: (bytes: Uint8Array) => unknown;
}

type Functions = Readonly<Record<string, (value: never) => never>>;

const roots: Root[] = [];
for (const name of cases) {
  const { files, schema } = compileCase(name);
  for (const { path: file, text } of files.filter((emitted) => emitted.path.endsWith(".capnp"))) {
    const module = (await import(path.join(golden, name, file.replace(/\.capnp$/, ".ts")))) as Functions;
    for (const { name: type, typeParameters } of schema.modules.flatMap(({ types }) => types)) {
      const write = module[`write${type}Capnp`] as Root["write"] | undefined;
      const decode = module[`decode${type}Capnp`] as Root["decode"] | undefined;
      if (write === undefined || decode === undefined || typeParameters.length > 0 || type === "Order") continue;
      const struct = new RegExp(`^struct (${type}(?:Type)?) `, "m").exec(text)?.[1];
      if (struct === undefined) throw new Error(`cannot find ${type} in ${file}`);
      roots.push({ case: name, type, file, struct, values: valuesOf(schema, type), write, decode });
    }
  }
}

test("the golden cases contain more than 30 root types", () => {
  expect(roots.length).toBeGreaterThan(30);
});

test.each(roots)("values of $case/$type survive a round trip", ({ values, write, decode }) => {
  fc.assert(
    fc.property(values, (value) => {
      expect(decode(write(value))).toStrictEqual(value);
    }),
    { numRuns: 60 },
  );
});

describe.skipIf(peer("capnp") === undefined)("the capnp tool", () => {
  function convert(root: Pick<Root, "case" | "file" | "struct">, from: string, to: string, input: Uint8Array): Buffer {
    // Without --quiet the tool guesses that empty messages have another format.
    const args = ["convert", "--quiet", `${from}:${to}`, path.join(golden, root.case, root.file), root.struct];
    const { status, stderr, stdout } = runPeer("capnp", args, { input });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    return stdout;
  }

  // JSON in strings is full of characters that the tool takes for the end of a message.
  test.each(roots.filter(({ type }) => type !== "WellKnown"))(
    "reads values of $case/$type and writes them again",
    (root) => {
      // The formats of the tool have no negative zero, and it looks for the end of a message in strings too.
      const values = fc.sample(root.values, { numRuns: 40, seed: 1 }).map(plain);
      const bytes = Buffer.concat(values.map((value) => root.write(value)));
      const json = convert(root, "binary", "json", bytes);
      const again = convert(root, "json", "binary", json);
      const messages = split(again);
      expect(messages.length).toBe(values.length);
      for (const [i, message] of messages.entries()) expect(root.decode(message)).toStrictEqual(values[i]);
    },
  );

  test("writes messages in many segments, which our decoders read through far pointers", () => {
    const root = roots.find(({ type }) => type === "Everything") as Root;
    for (const value of fc.sample(root.values, { numRuns: 12, seed: 2 })) {
      for (const size of [1, 7, 60]) {
        const args = ["convert", "--quiet", `--segment-size=${size}`, "binary:binary"];
        const { stdout } = runPeer("capnp", args, { input: root.write(value) });
        if (size === 1) expect(stdout.readUInt32LE(0)).toBeGreaterThan(3);
        expect(root.decode(new Uint8Array(stdout))).toStrictEqual(value);
      }
    }
  });

  test("omits zero values in canonical messages, which our decoders read as the same values", () => {
    for (const root of roots.filter(({ case: name }) => name === "kinds")) {
      for (const value of fc.sample(root.values, { numRuns: 5, seed: 3 })) {
        const { stdout } = runPeer("capnp", ["convert", "--quiet", "binary:canonical"], { input: root.write(value) });
        const header = Buffer.alloc(8);
        header.writeUInt32LE(stdout.length / 8, 4);
        expect(root.decode(new Uint8Array(Buffer.concat([header, stdout])))).toStrictEqual(value);
      }
    }
  });

  test("prints the expected text for a value that we encode", () => {
    const text = convert(
      { case: "kinds", file: "capnp/kinds.capnp", struct: "Everything" },
      "binary",
      "text",
      bytesOfAll,
    );
    expect(withoutSpace(text.toString())).toBe(withoutSpace(textOfAll));
  });

  test("encodes a text whose fields our readers read one by one", () => {
    const root = { case: "kinds", file: "capnp/kinds.capnp", struct: "Everything" };
    const reader = kinds.readEverythingCapnp(new Uint8Array(convert(root, "text", "binary", Buffer.from(textOfAll))));
    expect(reader.key.case).toBe("name");
    expect(reader.key.name).toBe("k");
    expect(reader.key.id).toBeUndefined();
    expect(reader.keys).toBeUndefined();
    expect(reader.pair.left).toBeNull();
    expect(reader.pair.right?.length).toBe(1);
    expect(reader.pair.rest.toArray()).toEqual(["more"]);
    expect(reader.pairs.at(0)).toBeNull();
    expect(reader.pairs.at(1)?.left?.at(0)?.toArray()).toEqual([1n, null]);
    expect(reader.pairs.at(2)).toBeUndefined();
    expect(reader.flags.toArray()).toEqual([true, false, true]);
    expect(reader.maybeFlags.toArray()).toEqual([true, null]);
    expect(reader.maybeDates.at(-1)).toEqual(new Date(1_700_000_000_000));
    expect(reader.byKey.at(0)?.key.id).toBe(18_446_744_073_709_551_615n);
    expect(reader.byKey.at(0)?.value.at(0)?.weight).toBeNull();
    expect(reader.record.at(0)?.value).toBeNull();
    expect(reader.records?.at(0)?.at(0)?.value).toBe("off");
    expect(reader.level).toBe(2);
    expect(reader.mixed).toBe(0.5);
    expect(reader.inner.a.b?.c).toBe(7);
    expect(reader.big).toBeNull();
    expect(reader.small).toBeUndefined();
    expect(reader.text).toBeUndefined();
    expect(reader.recordings.first?.samples).toEqual(new Float64Array([0.5, -1]));
    expect(reader.recordings.next).toBeNull();
    expect(reader.pages).toBeUndefined();
    expect(kinds.decodeEverythingCapnp(bytesOfAll)).toStrictEqual(all);
  });
});

const recording = {
  title: "t",
  rate: 44_100,
  started: new Date(0),
  samples: new Float64Array([0.5, -1]),
  marks: [],
  raw: new Uint8Array([1, 2, 255]),
};
const all: Everything = {
  key: { case: "name", value: "k" },
  pair: [null, [[]], "more"],
  pairs: [null, [[[1n, null]]]],
  grid: [],
  nest: [],
  flags: [true, false, true],
  maybeFlags: [true, null],
  maybeDates: [null, new Date(1_700_000_000_000)],
  byKey: new Map([[{ case: "id", value: 2n ** 64n - 1n }, new Set([{ at: 1n, text: "m", weight: null, by: null }])]]),
  record: { a: null },
  records: [{ b: "off" }],
  level: 2,
  mixed: 0.5,
  inner: { a: { b: { c: 7 } } },
  big: null,
  recordings: { items: [], first: recording, next: null },
};
const bytesOfAll = kinds.writeEverythingCapnp(all);
const textOfAll =
  '(key = (name = "k"), pair = (right = [(value = [])], rest = ["more"]), ' +
  "pairs = [(null = void), (value = (left = [[(value = 1), (null = void)]], rest = []))], grid = [], nest = [], " +
  "flags = [true, false, true], maybeFlags = [(value = true), (null = void)], " +
  "maybeDates = [(null = void), (value = 1700000000000)], " +
  'byKey = [(key = (id = 18446744073709551615), value = [(at = 1, text = "m", sure = (absent = void), ' +
  'weight = (null = void))])], record = [(key = "a")], records = (value = [[(key = "b", value = off)]]), level = 2, ' +
  "mixed = (value = n05), inner = (a = (b = (c = 7))), big = (null = void), small = (absent = void), " +
  "text = (absent = void), recordings = (items = [], first = " +
  '(title = "t", rate = 44100, started = 0, samples = [0.5, -1], marks = [], raw = "\\001\\002\\377")))';

function plain(value: unknown): unknown {
  if (Object.is(value, -0)) return 0;
  if (typeof value === "string") return value.replaceAll(/["'\\(){}[\]#]/g, "");
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Set) return new Set([...value].map(plain));
  if (value instanceof Map) return new Map([...value].map(([key, part]) => [plain(key), plain(part)]));
  if (value instanceof Float64Array || value instanceof Float32Array) return value.map((part) => part + 0);
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || value instanceof Date) return value;
  const copy = {};
  for (const [key, part] of Object.entries(value)) {
    Object.defineProperty(copy, String(plain(key)), {
      value: plain(part),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return copy;
}

function withoutSpace(text: string): string {
  return text.replaceAll(/\s/g, "");
}

/** A stream of messages of one segment each. */
function split(stream: Buffer): readonly Uint8Array[] {
  const messages: Uint8Array[] = [];
  for (let at = 0; at < stream.length; ) {
    const size = 8 + stream.readUInt32LE(at + 4) * 8;
    expect(stream.readUInt32LE(at)).toBe(0);
    messages.push(new Uint8Array(stream.subarray(at, at + size)));
    at += size;
  }
  return messages;
}
