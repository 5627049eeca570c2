/** Tasks that call a leaky actor. Its class is loaded by the task, because the test compiles it first. */
import { JobContext, task } from "viceroy/tasks";
import type { LeakyClasses } from "./leaky.js";

/** Calls the actor with a name `count` times, `atOnce` calls under way, and returns the incarnations that have answered. */
export const callLeaky = task(
  import.meta.url,
  "callLeaky",
  async (name: string, caller: string, count: number, atOnce: number) => {
    const url = new URL("../../fixtures/leaky/src/leaky.ts", import.meta.url).href;
    const { Remembering } = (await import(url)) as LeakyClasses;
    const actor = (await JobContext.current().getActor(Remembering, name))!;
    const incarnations: number[] = [];
    const underWay: Promise<void>[] = [];
    for (let i = 0; i < count; i++) {
      if (underWay.length === atOnce) await underWay.shift();
      const answer = actor.add.callOne(`${caller}:${i}`);
      underWay.push(answer.then(({ incarnation }) => void incarnations.push(incarnation)));
    }
    await Promise.all(underWay);
    return incarnations;
  },
);
