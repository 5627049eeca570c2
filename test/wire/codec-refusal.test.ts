/** The texts of values and paths in errors. */
import { describe, expect, test } from "vitest";
import { CodecRefusal, formatPathOf, type PathSegment, withPathSegment } from "../../runtime/wire/codec-refusal.js";
import { type Codec, CodecError, codec } from "../../runtime/wire/index.js";

describe("the path of an error", () => {
  const path = (...segments: PathSegment[]) => formatPathOf("Rec", segments);

  test("is written like a property access in code", () => {
    expect(path()).toBe("Rec");
    expect(path("items", 3, "qty")).toBe("Rec.items[3].qty");
    expect(path("$a_1", "é", "ñ2")).toBe("Rec.$a_1.é.ñ2");
    expect(path("a b", "7", "", 'q"', "a-")).toBe('Rec["a b"]["7"][""]["q\\""]["a-"]');
    expect(path("tags", { text: ".keys()[2]" })).toBe("Rec.tags.keys()[2]");
  });

  test("is complete up to 24 segments, and has the first and the last 12 segments beyond", () => {
    const steps = (count: number) => Array.from({ length: count }, (_, i) => `s${i}`);
    expect(path(...steps(24))).toBe(`Rec.${steps(24).join(".")}`);
    const all = steps(26);
    expect(path(...all)).toBe(`Rec.${all.slice(0, 12).join(".")} … 2 more … .${all.slice(-12).join(".")}`);
  });

  test("is built from the inside to the outside, and the thrown value is the cause", () => {
    const cause = new TypeError("no disk");
    const refused = withPathSegment(withPathSegment(withPathSegment(cause, "qty"), 3), "items");
    expect(refused).toMatchObject({ path: ["items", 3, "qty"], reason: "no disk", message: "no disk", cause });
    expect(withPathSegment("a text", 1)).toMatchObject({ path: [1], reason: "a text", cause: "a text" });
  });
});

test("a refusal has a reason and says whether it is final, and has a cause only if it is given one", () => {
  expect(new CodecRefusal()).toMatchObject({ reason: "", message: "", isFinal: false, path: [] });
  expect(Object.hasOwn(new CodecRefusal("why"), "cause")).toBe(false);
  expect(new CodecRefusal("why", { isFinal: true, cause: 1 })).toMatchObject({
    reason: "why",
    isFinal: true,
    cause: 1,
  });
});

describe("a type without a name", () => {
  test.each<[Codec<unknown>, string]>([
    [codec.object("", {}), "object: expected an object"],
    [codec.union("", "kind", () => ({ a: codec.object("", {}) })), "union: expected an object"],
    [codec.oneof("", () => ({ a: codec.int32 })), "oneof: expected an object"],
    [codec.enumeration("", ["a"]), 'enum: expected "a"'],
    [codec.enumeration("", [0]), "enum: expected an integer from 0 to 0"],
    [codec.tuple(), "[]: expected an array"],
  ])("is named by its kind in errors", (of, text) => {
    for (const value of [null, 5n, "x"]) {
      const shown = value === null ? "null" : value === "x" ? '"x"' : "5n";
      for (const write of ["encode", "toProtobuf"] as const) {
        const expected = write === "toProtobuf" ? text.replace("0 to 0", "-2147483648 to 2147483647") : text;
        const error = thrown(() => of[write](value as never));
        expect(error.reason).toBe(`invalid ${expected}, got ${shown}`);
        expect(error.message).toBe(`cannot encode ${of.name}: ${error.reason}`);
        expect(error).toMatchObject({ name: "CodecError", verb: "encode", path: of.name });
      }
    }
  });
});

function thrown(run: () => unknown): CodecError {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(CodecError);
    return error as CodecError;
  }
  throw new Error("nothing was thrown");
}

describe("the list of expected values in an error", () => {
  const expected = (count: number) => {
    const values = Array.from({ length: count }, (_, i) => `v${i}`);
    return thrown(() => codec.enumeration("E", values).encode("other")).reason;
  };

  test("has up to eight values, and counts the others", () => {
    expect(expected(1)).toBe('invalid E: expected "v0", got "other"');
    expect(expected(2)).toBe('invalid E: expected "v0" or "v1", got "other"');
    const eight = Array.from({ length: 8 }, (_, i) => `"v${i}"`);
    expect(expected(8)).toBe(`invalid E: expected ${eight.slice(0, 7).join(", ")} or "v7", got "other"`);
    expect(expected(10)).toBe(`invalid E: expected ${eight.join(", ")} or one of 2 more, got "other"`);
  });
});
