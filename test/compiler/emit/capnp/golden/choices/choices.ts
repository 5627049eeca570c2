// The types of schemas/choices.ts, without codecs.
export type Direction = "north" | "east" | "south" | "west";

/** An enumeration with names of its own. */
export const Level = {
  /** Nobody cares. */
  Debug: 10,
  Info: 20,
  Error: 40,
} as const;
export type Level = (typeof Level)[keyof typeof Level];

export const Suit = {
  Hearts: "♥",
  Spades: "♠",
} as const;
export type Suit = (typeof Suit)[keyof typeof Suit];

export interface Circle {
  kind: "circle";
  radius: number;
}

export interface Square {
  kind: "square";
  side: number;
}

/** Told apart by `kind`. */
export type Shape = Circle | Square | { kind: "polygon"; sides: number[] };

export type Answer =
  | { readonly case: "number"; readonly value: number }
  | { readonly case: "text"; readonly value: string }
  | { readonly case: "shape"; readonly value: Shape };

export interface Choices {
  direction: Direction;
  level: Level;
  suit?: Suit;
  shape: Shape;
  answer: Answer | null;
  mode: "on" | "off";
  constant: "fixed";
}
