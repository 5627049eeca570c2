/** Successive halving: trains all candidates a little, and the better half of them more, until one is left. */
import type { JobContext, ObjectRef } from "viceroy/tasks";
import type { Model, Settings } from "../generated/search.js";
import { create, train } from "./tasks.js";

/** A candidate after one rung. */
export interface Trained {
  readonly settings: Settings;
  readonly ref: ObjectRef<Model>;
  readonly model: Model;
}

/** The candidates of one rung, the best first. */
export type Rung = readonly Trained[];

/** @param epochs the number of epochs of each candidate in the first rung, which doubles from rung to rung */
export async function search(
  context: JobContext,
  candidates: readonly Settings[],
  epochs: number,
): Promise<readonly Rung[]> {
  const rungs: Rung[] = [];
  let started = new Map(
    candidates.map((settings) => [context.run(train, settings, context.run(create, settings), epochs), settings]),
  );
  for (let more = 2 * epochs; ; more *= 2) {
    const next = new Map<ObjectRef<Model>, Settings>();
    const trained: Trained[] = [];
    const following = new Map<Trained, ObjectRef<Model>>();
    let pending = [...started.keys()];
    while (pending.length > 0) {
      const [done, others] = await context.wait(pending, { count: 1 });
      for (const ref of done) {
        const one = { settings: started.get(ref)!, ref, model: await context.get(ref) };
        trained.push(one);
        // Processes have work while the rung is not complete: the next one begins before the losers are known.
        if (started.size > 1) following.set(one, context.run(train, one.settings, ref, more));
      }
      pending = others;
    }
    trained.sort((a, b) => a.model.loss - b.model.loss || a.settings.candidate - b.settings.candidate);
    rungs.push(trained);
    if (trained.length === 1) return rungs;
    for (const [place, one] of trained.entries()) {
      const ref = following.get(one)!;
      if (place < trained.length / 2) next.set(ref, one.settings);
      else context.cancel(ref);
      one.ref.release();
    }
    started = next;
  }
}
