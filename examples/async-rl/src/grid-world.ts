/**
 * The environment: episodes on a board of 5x5, many at a time. A piece starts on a random field and must reach another one. An action moves
 * the piece by one field in one of four directions; at the edge it has no effect. An episode that has not reached its goal after eight
 * steps, which suffice from every field, is lost.
 */
import { type Tensor, tensor } from "viceroy/tensor";

const size = 5;
const directions = [
  [1, 0],
  [-1, 0],
  [0, 1],
  [0, -1],
] as const;
/** The return of a step is the return of the next step, times this factor. */
const discount = 0.9;

const maxSteps = 8;
/** Numbers in one observation. */
export const features = 4;
/** Number of possible actions. */
export const actionCount = directions.length;

/** The state of one episode. */
interface Episode {
  x: number;
  y: number;
  readonly goalX: number;
  readonly goalY: number;
}

/** One action in one episode. */
export interface Step {
  readonly observation: readonly number[];
  readonly action: number;
  /** The log probability of the action under the policy that has chosen it. */
  readonly logProbability: number;
  readonly episode: Episode;
  /** Number of earlier steps in the episode. */
  readonly index: number;
}

/** Episodes that are played in lockstep, so that the policy chooses the actions of all of them in one call. */
export class EpisodeBatch {
  readonly steps: Step[] = [];
  #running: Episode[];
  #stepIndex = 0;
  /** The index of the last step of each episode that was won. */
  readonly #won = new Map<Episode, number>();

  /** @param random returns numbers from 0 to below 1 */
  constructor(count: number, random: () => number) {
    const coordinate = () => Math.floor(random() * size);
    const all = Array.from({ length: count }, () => ({
      x: coordinate(),
      y: coordinate(),
      goalX: coordinate(),
      goalY: coordinate(),
    }));
    this.#running = all.filter(({ x, y, goalX, goalY }) => x !== goalX || y !== goalY);
  }

  get finished(): boolean {
    return this.#running.length === 0 || this.#stepIndex === maxSteps;
  }

  /** The observations of the running episodes: `[episodes, features]`. */
  observe(): Tensor {
    return tensor(this.#running.map(observationOf));
  }

  /** Takes one action in each running episode. */
  step(actions: readonly number[], logProbabilities: readonly number[]): void {
    for (const [i, episode] of this.#running.entries()) {
      const action = actions[i]!;
      this.steps.push({
        observation: observationOf(episode),
        action,
        logProbability: logProbabilities[i]!,
        episode,
        index: this.#stepIndex,
      });
      const [dx, dy] = directions[action]!;
      episode.x = Math.min(Math.max(episode.x + dx, 0), size - 1);
      episode.y = Math.min(Math.max(episode.y + dy, 0), size - 1);
      if (episode.x === episode.goalX && episode.y === episode.goalY) this.#won.set(episode, this.#stepIndex);
    }
    this.#stepIndex++;
    this.#running = this.#running.filter((episode) => !this.#won.has(episode));
  }

  /** The discounted return from a step on: 1 for the step that wins, less for earlier steps, 0 in a lost episode. */
  returnOf({ episode, index }: Step): number {
    const last = this.#won.get(episode);
    return last === undefined ? 0 : discount ** (last - index);
  }

  /** The fraction of the episodes that was won. */
  get winRate(): number {
    return this.#won.size / new Set(this.steps.map(({ episode }) => episode)).size;
  }
}

/** Coordinates of the piece and of its goal, each from -1 to 1. */
function observationOf({ x, y, goalX, goalY }: Episode): number[] {
  return [x, y, goalX, goalY].map((coordinate) => (2 * coordinate) / (size - 1) - 1);
}
