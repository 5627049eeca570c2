import type { Port } from "viceroy";
import { PlayerActor, type PlayerMesh, type Stroke } from "../generated/player.js";

export class TablePlayer extends PlayerActor {
  #name = "nobody";
  #opponent: PlayerMesh | undefined;
  #strokes: Port<Stroke> | undefined;

  face(name: string, opponent: PlayerMesh, strokes: Port<Stroke>) {
    this.#name = name;
    this.#opponent = opponent;
    this.#strokes = strokes;
  }

  // A broadcast, not a call: with a call, each player would wait until the ball is back, and both would wait for each other.
  async hit(number: number, last: number) {
    await this.#strokes?.send({ player: this.#name, number });
    if (number < last) await this.#opponent?.hit.broadcast(number + 1, last);
  }

  bounce(ball: number) {
    return ball;
  }
}
