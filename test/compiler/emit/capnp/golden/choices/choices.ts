// The types of schemas/choices.ts, without codecs.
import type { UnknownCase, UnknownNumber, UnknownValue, UnknownVariant } from "viceroy/codegen/v1";

export type Direction = "north" | "east" | "south" | "west" | UnknownValue;

/** An enumeration with names of its own. */
export const Level = {
  /** Nobody cares. */
  Debug: 10,
  Info: 20,
  Error: 40,
} as const;
export type Level = (typeof Level)[keyof typeof Level] | UnknownNumber;

export const Suit = {
  Hearts: "♥",
  Spades: "♠",
} as const;
export type Suit = (typeof Suit)[keyof typeof Suit] | UnknownValue;

export interface Circle {
  kind: "circle";
  radius: number;
}

export interface Square {
  kind: "square";
  side: number;
}

/** Told apart by `kind`. */
export type Shape = Circle | Square | { kind: "polygon"; sides: number[] } | UnknownVariant<"kind">;

export type Answer =
  | { readonly case: "number"; readonly value: number }
  | { readonly case: "text"; readonly value: string }
  | { readonly case: "shape"; readonly value: Shape }
  | UnknownCase;

export interface Choices {
  direction: Direction;
  level: Level;
  suit?: Suit;
  shape: Shape;
  answer: Answer | null;
  mode: "on" | "off" | UnknownValue;
  constant: "fixed";
}
