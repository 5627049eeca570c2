import { context } from "viceroy";
import { type Chain, SearcherActor } from "../generated/searcher.js";

export class ChainSearcher extends SearcherActor {
  search(round: number, searchers: number, size: number): Chain {
    const from = (round * searchers + context().actor.rank.rank) * size + 1;
    let [start, steps] = [from, 0];
    for (let number = from; number < from + size; number++) {
      const length = stepsOf(number);
      if (length > steps) [start, steps] = [number, length];
    }
    return { start, steps, host: `${process.env.VICEROY_JOB_MESH}[${process.env.VICEROY_JOB_RANK}]` };
  }
}

function stepsOf(number: number): number {
  let steps = 0;
  // Numbers of a chain can need more than 32 bits, which operators on bits do not keep.
  for (let n = number; n !== 1; n = n % 2 === 0 ? n / 2 : 3 * n + 1) steps++;
  return steps;
}
