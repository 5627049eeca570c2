/**
 * Generated types contain what a process with a newer schema can send: a `switch` is exhaustive only with those values,
 * and programs need not mention them in values that they make. The errors that are expected here are found by `tsc`.
 */
import { expect, test } from "vitest";
import { codec, unknownFields } from "../../../runtime/wire/index.js";
import {
  type Answer,
  type Choices,
  ChoicesCodec,
  type Direction,
  Level,
  type Shape,
  Suit,
} from "./golden/choices/expected/choices.js";

/** What a newer build may know: further values of each enumeration, a further variant, a further case. */
const Newer = codec.object("Choices", () => ({
  direction: codec.enumeration("Direction", ["north", "east", "south", "west", "up"]),
  level: codec.enumeration("Level", [10, 20, 40, 50]),
  suit: codec.optional(codec.enumeration("Suit", ["♥", "♠", "♦"])),
  shape: codec.union<{ kind: string }>("Shape", "kind", () => ({
    circle: codec.object("Circle", { radius: codec.double }),
    square: codec.object("Square", { side: codec.double }),
    polygon: codec.object("", { sides: codec.array(codec.int32) }),
    point: codec.object("Point", { x: codec.double }),
  })),
  answer: codec.nullable(
    codec.oneof("Answer", () => ({
      number: codec.uint32,
      text: codec.string,
      shape: codec.object("Shape", {}),
      other: codec.string,
    })),
  ),
  mode: codec.enumeration("Mode", ["on", "off", "auto"]),
  constant: codec.enumeration("Constant", ["fixed"]),
}));

/** A value that mentions nothing unknown. */
const known: Choices = {
  direction: "north",
  level: Level.Debug,
  suit: Suit.Spades,
  shape: { kind: "circle", radius: 1 },
  answer: { case: "text", value: "yes" },
  mode: "on",
  constant: "fixed",
};

function area(shape: Shape): number | "newer" {
  switch (shape.kind) {
    case "circle":
      return Math.PI * shape.radius ** 2;
    case "square":
      return shape.side ** 2;
    case "polygon":
      return shape.sides.length;
    case "$unknown":
      return "newer";
  }
}

function turn(direction: Direction): string {
  switch (direction) {
    case "north":
    case "south":
      return "straight";
    case "east":
    case "west":
      return "around";
    default:
      return direction satisfies `$unknown:${number}`;
  }
}

function severity(level: Level): string {
  switch (level) {
    case Level.Debug:
      return "debug";
    case Level.Info:
      return "info";
    case Level.Error:
      return "error";
    default:
      return `newer: ${level.toFixed(0)}`;
  }
}

function answered(answer: Answer): unknown {
  switch (answer.case) {
    case "number":
    case "text":
    case "shape":
      return answer.value;
    case "$unknown":
      return answer.value satisfies undefined;
  }
}

test("a switch with a branch for newer values handles known and newer values", () => {
  const old = [known.shape, known.direction, known.level, known.answer] as const;
  expect([area(old[0]), turn(old[1]), severity(old[2]), answered(old[3]!)]).toEqual([
    Math.PI,
    "straight",
    "debug",
    "yes",
  ]);
  const bytes = Newer.toProtobuf({
    direction: "up",
    level: 50,
    suit: "♦",
    shape: { kind: "point", x: 2 } as never,
    answer: { case: "other", value: "perhaps" },
    mode: "auto",
    constant: "fixed",
  });
  const received = ChoicesCodec.fromProtobuf(bytes);
  expect(received).toMatchObject({ direction: "$unknown:5", level: 50, suit: "$unknown:3", mode: "$unknown:3" });
  expect(area(received.shape)).toBe("newer");
  expect(turn(received.direction)).toBe("$unknown:5");
  expect(severity(received.level)).toBe("newer: 50");
  expect(received.answer).toMatchObject({ case: "$unknown" });
  expect(answered(received.answer!)).toBeUndefined();
  // What is not understood is passed on unchanged.
  expect(Newer.fromProtobuf(ChoicesCodec.toProtobuf(received))).toMatchObject({
    direction: "up",
    level: 50,
    shape: { kind: "point", x: 2 },
    answer: { case: "other", value: "perhaps" },
  });
});

test("a switch without a branch for newer values is not exhaustive", () => {
  // @ts-expect-error: a newer variant has no branch
  const circleOnly = (shape: Exclude<Shape, { kind: "square" | "polygon" }>): number => {
    switch (shape.kind) {
      case "circle":
        return shape.radius;
    }
  };
  const exact = (level: Level): 10 | 20 | 40 => {
    // @ts-expect-error: a number of a newer schema is not one of these
    return level;
  };
  expect(circleOnly({ kind: "circle", radius: 3 })).toBe(3);
  expect(exact(Level.Info)).toBe(20);
});

test("programs cannot make newer values, and codecs refuse forged ones", () => {
  // @ts-expect-error: 30 is no value of Level
  const level: Level = 30;
  // @ts-expect-error: only decoding makes this variant
  const shape: Shape = { kind: "$unknown" };
  // @ts-expect-error: only decoding makes this case
  const answer: Answer = { case: "$unknown", value: undefined };
  expect(() => ChoicesCodec.encode({ ...known, level })).toThrow(/level: invalid Level: expected 10, 20 or 40, got 30/);
  expect(() => ChoicesCodec.toProtobuf({ ...known, shape })).toThrow(
    'shape: invalid Shape: expected the unknown fields that make it, got "none"',
  );
  expect(() => ChoicesCodec.encode({ ...known, answer })).toThrow(
    'answer: invalid Answer: expected case to be "number", "text" or "shape", got "$unknown"',
  );
  expect(unknownFields in shape).toBe(false);
});
