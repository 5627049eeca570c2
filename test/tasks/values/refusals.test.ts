/** Values that are not plain are refused, with an error that names the place and what to do. */
import { describe, expect, test } from "vitest";
import { encodePlain, type PlainPlace, PlainValueError, putPlace } from "../../../runtime/tasks/values/index.js";
import { copy, encode, place, refs } from "./references.js";

const expected =
  "expected a plain value (null, undefined, a boolean, number, bigint, string, Date, ArrayBuffer, DataView, typed array or " +
  "ObjectRef, or an array, plain object, Map or Set of plain values)";

/** Returns the error that encoding a value throws. */
function errorOf(value: unknown, at: PlainPlace = place): PlainValueError {
  try {
    encodePlain(value, at, refs);
  } catch (error) {
    expect(error).toBeInstanceOf(PlainValueError);
    return error as PlainValueError;
  }
  return expect.fail("the value was encoded");
}

class Point {
  x = 1;
}

class Distances extends Map<string, number> {}

const inSchema = "or declare the task in a schema";
const copyFields = `copy its fields into a plain object, ${inSchema}`;

describe("a refused value is named with what to do", () => {
  test.each<[string, unknown, string, string]>([
    ["a function", () => 1, "a function", `pass data instead, ${inSchema}`],
    ["a class", Point, "a function", `pass data instead, ${inSchema}`],
    ["a symbol", Symbol("x"), "a symbol", "pass a string instead"],
    ["an instance of a class", new Point(), "an instance of Point", copyFields],
    ["an instance of a class without a name", new (class {})(), "an instance of an anonymous class", copyFields],
    ["an instance of a class that extends Map", new Distances(), "an instance of Distances", copyFields],
    [
      "an instance of a class that extends Array",
      new (class List extends Array {})(),
      "an instance of List",
      copyFields,
    ],
    [
      "an object that inherits from another",
      Object.create({ a: 1 }),
      "an object with a prototype that is not a class",
      copyFields,
    ],
    ["a promise", Promise.resolve(1), "an instance of Promise", "await it first"],
    ["an error", new RangeError("no"), "an instance of RangeError", "pass its message and stack, or throw it"],
    ["a regular expression", /a/g, "an instance of RegExp", "pass its source and flags"],
    [
      "shared memory",
      new SharedArrayBuffer(1),
      "an instance of SharedArrayBuffer",
      "pass a typed array on it, which is copied",
    ],
    ["a WeakMap", new WeakMap(), "an instance of WeakMap", copyFields],
    ["a number object", Object(1), "an instance of Number", copyFields],
    ["a URL", new URL("file:///"), "an instance of URL", copyFields],
    ["a date by prototype only", Object.create(Date.prototype), "an instance of Date", copyFields],
    ["a typed array by prototype only", Object.create(Uint8Array.prototype), "an instance of Uint8Array", copyFields],
    ["a map by prototype only", Object.create(Map.prototype), "an instance of Map", copyFields],
    [
      "an array with the prototype of objects",
      Object.setPrototypeOf([1], Object.prototype),
      "an object with a prototype that is not a class",
      copyFields,
    ],
    [
      "an object with a symbol as key",
      { [Symbol("tag")]: 1 },
      "an object with the key Symbol(tag)",
      "use strings as keys",
    ],
    [
      "a module",
      Object.create(null, { [Symbol.toStringTag]: { value: "Module" } }),
      "an object with the key Symbol(Symbol.toStringTag)",
      "use strings as keys",
    ],
  ])("%s", (_, value, got, hint) => {
    expect(errorOf(value).message).toBe(`cannot run square: argument 1: ${expected}, got ${got}; ${hint}`);
    expect(errorOf(value).path).toBe("");
  });
});

describe("the place of a refused value is named as an expression", () => {
  const callback = (): void => {};
  test.each<[string, unknown, string]>([
    ["in an object", { callback }, ".callback"],
    ["in an array in an object", { items: [0, 0, 0, { callback }] }, ".items[3].callback"],
    ["under a name that is no identifier", { "a name": { "1": [callback] } }, '["a name"]["1"][0]'],
    ["in a map, under a text", { map: new Map([["a", callback]]) }, '.map.get("a")'],
    ["in a map, under a number", new Map([[1, [callback]]]), ".get(1)[0]"],
    [
      "in a map, under an object",
      new Map([
        [1, 1 as unknown],
        [{}, callback],
      ] as [unknown, unknown][]),
      ".values()[1]",
    ],
    ["as a key of a map", new Map([[[callback], 1]]), ".keys()[0][0]"],
    ["in a set", new Set([1, callback]), ".values()[1]"],
    ["in an object without a prototype", Object.assign(Object.create(null), { done: callback }), ".done"],
    [
      "after values of all other kinds",
      [null, undefined, 1, 1n, "", true, new Date(), new Uint8Array(1), callback],
      "[8]",
    ],
  ])("%s", (_, value, path) => {
    const hint = `pass data instead, ${inSchema}`;
    expect(errorOf(value).message).toBe(
      `cannot run square: argument 1 at ${path}: ${expected}, got a function; ${hint}`,
    );
    expect(errorOf(value).path).toBe(path);
  });
});

test.each<[PlainPlace, string]>([
  [{ kind: "argument", task: "area", index: 1 }, "cannot run area: argument 2 at .f"],
  [{ kind: "result", task: "area" }, "cannot return from area: the result at .f"],
  [putPlace, "cannot put: the value at .f"],
])("the error says which value it is about: %j", (at, start) => {
  const { message } = errorOf({ f: () => 1 }, at);
  expect(message).toBe(`${start}: ${expected}, got a function; pass data instead, ${inSchema}`);
});

test("the error is a TypeError with a name of its own", () => {
  expect(errorOf(Symbol())).toBeInstanceOf(TypeError);
  expect(errorOf(Symbol()).name).toBe("PlainValueError");
});

const faultOf = (value: unknown): string =>
  errorOf(value)
    .message.replace(/^cannot run square: argument 1( at )?/, "")
    .replace(`: ${expected}, got `, " -> ");

test("an accessor is refused without being called", () => {
  const value = {
    list: [
      {
        get now(): number {
          throw new Error("called");
        },
      },
    ],
  };
  expect(faultOf(value)).toBe(".list[0].now -> an accessor property; copy the object with { ...object }");
  const setter = Object.defineProperty({}, "x", { enumerable: true, set: () => {} });
  expect(faultOf({ setter })).toBe(".setter.x -> an accessor property; copy the object with { ...object }");
});

test("a hole of a sparse array is refused", () => {
  const sparse = [1, 2, 3];
  delete sparse[1];
  expect(faultOf({ sparse })).toBe(".sparse[1] -> a hole of a sparse array; fill it with undefined or null");
  expect(faultOf(new Array(3))).toBe("[0] -> a hole of a sparse array; fill it with undefined or null");
  const numbers = Array.from({ length: 20 }, (_, i) => i);
  delete numbers[19];
  expect(faultOf(numbers)).toBe("[19] -> a hole of a sparse array; fill it with undefined or null");
});

test("a cycle is refused, and the place to which it returns is named", () => {
  const hint = "pass an array whose items refer to each other by index";
  const self: unknown[] = [];
  self.push([self]);
  expect(faultOf(self)).toBe(`[0][0] -> a cycle that returns to the outermost object; ${hint}`);
  const node = { map: new Map<string, unknown>() };
  node.map.set("parent", new Set([node]));
  expect(faultOf({ tree: { node } })).toBe(
    `.tree.node.map.get("parent").values()[0] -> a cycle that returns to .tree.node; ${hint}`,
  );
});

test("a value that is nested too deeply is refused", () => {
  let value: unknown = [];
  for (let i = 0; i < 255; i++) value = [value];
  expect(copy(value)).toStrictEqual(value);
  expect(faultOf([value])).toBe(`${"[0]".repeat(256)} -> a value nested deeper than 256; pass a flatter value`);
});

test("a detached buffer, and views of it, are refused", () => {
  const hint = "pass it before its memory is transferred, or pass a copy";
  const buffer = new ArrayBuffer(16);
  const values = { a: buffer, b: new Uint8Array(buffer), c: new DataView(buffer) };
  structuredClone(buffer, { transfer: [buffer] });
  for (const key of ["a", "b", "c"] as const) {
    expect(faultOf({ [key]: values[key] })).toBe(`.${key} -> a detached ArrayBuffer; ${hint}`);
  }
});

test("an object that changes while it is encoded is refused", () => {
  const set = new Set<unknown>([1]);
  const changing = new Proxy(
    {},
    {
      ownKeys() {
        set.add(set.size + 1);
        return [];
      },
    },
  );
  set.add(changing);
  const hint = "encode it when nothing changes it";
  expect(faultOf(set)).toBe(` -> an object that changed while it was encoded; ${hint}`);
});

test("the thread encodes the next value as usual after a refused one", () => {
  expect(() => encode(["x".repeat(3_000_000), () => 1])).toThrow(PlainValueError);
  expect(copy(["a", 1])).toStrictEqual(["a", 1]);
});
