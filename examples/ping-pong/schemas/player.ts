import type { Actor, Mesh, Port, Uint32 } from "viceroy/schema";

/** One stroke, as it is called out to the spectators. */
export interface Stroke {
  player: string;
  number: Uint32;
}

/** A player of table tennis. */
export interface Player extends Actor {
  /** Before the game: who you are, who stands on the other side, and where strokes are called out. */
  face(name: string, opponent: Mesh<Player>, strokes: Port<Stroke>): void;
  /** Takes stroke `number` and plays the ball to the opponent, who takes the next; the rally ends after stroke `last`. */
  hit(number: Uint32, last: Uint32): void;
  /** Answers with the same ball: nothing but a round trip. */
  bounce(ball: Uint32): Uint32;
}
