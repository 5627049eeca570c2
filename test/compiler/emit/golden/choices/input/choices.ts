import type { Int32, Oneof, Uint32 } from "viceroy/schema";

export type Direction = "north" | "east" | "south" | "west";

/** An enumeration with names of its own. */
export declare enum Level {
  /** Nobody cares. */
  Debug = 10,
  Info = 20,
  Error = 40,
}

export declare enum Suit {
  Hearts = "♥",
  Spades = "♠",
}

export interface Circle {
  kind: "circle";
  radius: number;
}

export interface Square {
  kind: "square";
  side: number;
}

/** Told apart by `kind`. */
export type Shape = Circle | Square | { kind: "polygon"; sides: Int32[] };

export type Answer = Oneof<{ number: Uint32; text: string; shape: Shape }>;

export interface Choices {
  direction: Direction;
  level: Level;
  suit?: Suit;
  shape: Shape;
  answer: Answer | null;
  mode: "on" | "off";
  constant: "fixed";
}
