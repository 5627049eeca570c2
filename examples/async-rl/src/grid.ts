/**
 * The environment: games on a board of 5x5, many at a time. A piece starts somewhere and should reach another field; a move goes one field
 * in one of four directions, and nowhere at the edge. Who has not arrived after eight moves, which are enough from everywhere, has lost.
 */
import { type Tensor, tensor } from "viceroy/tensor";

const boardSize = 5;
const directions = [
  [1, 0],
  [-1, 0],
  [0, 1],
  [0, -1],
] as const;
/** What is won at the end, seen from one move before, is so much less. */
const discount = 0.9;

export const maxSteps = 8;
export const observationSize = 4;
export const actionCount = directions.length;

interface Episode {
  x: number;
  y: number;
  readonly goalX: number;
  readonly goalY: number;
}

/** What happened in one move of one game. */
export interface GameStep {
  readonly observation: readonly number[];
  readonly action: number;
  readonly logProbability: number;
  readonly episode: Episode;
  readonly step: number;
}

export class Episodes {
  readonly history: GameStep[] = [];
  #running: Episode[];
  #step = 0;
  /** Games that were won, with the number of moves. */
  readonly solved = new Map<Episode, number>();

  /** @param random numbers from 0 to below 1 */
  constructor(count: number, random: () => number) {
    const field = () => Math.floor(random() * boardSize);
    const all = Array.from({ length: count }, () => ({ x: field(), y: field(), goalX: field(), goalY: field() }));
    this.#running = all.filter(({ x, y, goalX, goalY }) => x !== goalX || y !== goalY);
  }

  get isDone(): boolean {
    return this.#running.length === 0 || this.#step === maxSteps;
  }

  /** `[games, features]`, of the games that go on. */
  observe(): Tensor {
    return tensor(this.#running.map(observationOf));
  }

  /** One move in each game that goes on. @param chances the logarithm of how probable each was */
  step(chosen: readonly number[], chances: readonly number[]): void {
    for (const [i, game] of this.#running.entries()) {
      const [dx, dy] = directions[chosen[i]!]!;
      this.history.push({
        observation: observationOf(game),
        action: chosen[i]!,
        logProbability: chances[i]!,
        episode: game,
        step: this.#step,
      });
      game.x = Math.min(Math.max(game.x + dx, 0), boardSize - 1);
      game.y = Math.min(Math.max(game.y + dy, 0), boardSize - 1);
      if (game.x === game.goalX && game.y === game.goalY) this.solved.set(game, this.#step);
    }
    this.#step++;
    this.#running = this.#running.filter((game) => !this.solved.has(game));
  }

  /** 1 for a game that is won with this move, less the earlier it is; 0 for one that is lost. */
  returnAfter({ episode: game, step: at }: GameStep): number {
    const last = this.solved.get(game);
    return last === undefined ? 0 : discount ** (last - at);
  }

  /** The part of them that was won. */
  get successRate(): number {
    return this.solved.size / new Set(this.history.map(({ episode: game }) => game)).size;
  }
}

function observationOf({ x, y, goalX, goalY }: Episode): number[] {
  return [x, y, goalX, goalY].map((place) => (2 * place) / (boardSize - 1) - 1);
}
