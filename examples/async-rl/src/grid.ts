/**
 * The environment: games on a board of 5x5, many at a time. A piece starts somewhere and should reach another field; a move goes one field
 * in one of four directions, and nowhere at the edge. Who has not arrived after eight moves, which are enough from everywhere, has lost.
 */
import { type Tensor, tensor } from "viceroy/tensor";

const size = 5;
const directions = [
  [1, 0],
  [-1, 0],
  [0, 1],
  [0, -1],
] as const;
/** What is won at the end, seen from one move before, is so much less. */
const discount = 0.9;

export const limit = 8;
export const features = 4;
export const moves = directions.length;

interface Game {
  x: number;
  y: number;
  readonly goalX: number;
  readonly goalY: number;
}

/** What happened in one move of one game. */
export interface Move {
  readonly seen: readonly number[];
  readonly move: number;
  readonly chance: number;
  readonly game: Game;
  readonly at: number;
}

export class Games {
  readonly history: Move[] = [];
  #running: Game[];
  #at = 0;
  /** Games that were won, with the number of moves. */
  readonly won = new Map<Game, number>();

  /** @param random numbers from 0 to below 1 */
  constructor(count: number, random: () => number) {
    const field = () => Math.floor(random() * size);
    const all = Array.from({ length: count }, () => ({ x: field(), y: field(), goalX: field(), goalY: field() }));
    this.#running = all.filter(({ x, y, goalX, goalY }) => x !== goalX || y !== goalY);
  }

  get over(): boolean {
    return this.#running.length === 0 || this.#at === limit;
  }

  /** `[games, features]`, of the games that go on. */
  see(): Tensor {
    return tensor(this.#running.map(seenIn));
  }

  /** One move in each game that goes on. @param chances the logarithm of how probable each was */
  move(chosen: readonly number[], chances: readonly number[]): void {
    for (const [i, game] of this.#running.entries()) {
      const [dx, dy] = directions[chosen[i]!]!;
      this.history.push({ seen: seenIn(game), move: chosen[i]!, chance: chances[i]!, game, at: this.#at });
      game.x = Math.min(Math.max(game.x + dx, 0), size - 1);
      game.y = Math.min(Math.max(game.y + dy, 0), size - 1);
      if (game.x === game.goalX && game.y === game.goalY) this.won.set(game, this.#at);
    }
    this.#at++;
    this.#running = this.#running.filter((game) => !this.won.has(game));
  }

  /** 1 for a game that is won with this move, less the earlier it is; 0 for one that is lost. */
  returnOf({ game, at }: Move): number {
    const last = this.won.get(game);
    return last === undefined ? 0 : discount ** (last - at);
  }

  /** The part of them that was won. */
  get share(): number {
    return this.won.size / new Set(this.history.map(({ game }) => game)).size;
  }
}

function seenIn({ x, y, goalX, goalY }: Game): number[] {
  return [x, y, goalX, goalY].map((place) => (2 * place) / (size - 1) - 1);
}
