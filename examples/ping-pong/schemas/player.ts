import type { Actor, Mesh, Port, Uint32 } from "viceroy/schema";

/** One stroke of a rally, as players report it. */
export interface Stroke {
  player: string;
  number: Uint32;
}

/** A player of table tennis. */
export interface Player extends Actor {
  /** Sets the player's name, its opponent, and the port to which it reports strokes. */
  face(name: string, opponent: Mesh<Player>, strokes: Port<Stroke>): void;
  /** Takes stroke `number` and passes the ball to the opponent, which takes the next stroke. The rally ends after stroke `last`. */
  hit(number: Uint32, last: Uint32): void;
  /** Returns its argument: a round trip without work. */
  bounce(ball: Uint32): Uint32;
}
