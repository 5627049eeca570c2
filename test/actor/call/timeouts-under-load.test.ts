/** Timeouts that busy actors notice late, while an actor that they have called notices its timeout in time. */
import { afterEach, expect, test } from "vitest";
import { Actor } from "../../../runtime/actor/actor.js";
import type { Endpoint } from "../../../runtime/actor/call/endpoint.js";
import { context } from "../../../runtime/actor/context.js";
import type { ActorMesh } from "../../../runtime/actor/mesh/actor-mesh.js";
import type { MeshKind } from "../../../runtime/actor/mesh-kind.js";
import { type Clock, systemClock } from "../../../runtime/link/clock.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import { defineActor, defineArgs } from "../../../runtime/wire/descriptor.js";
import { delay } from "../counter.js";
import { World } from "../world.js";

const none = defineArgs(codec.tuple(), 0, 0);

const helper = defineActor({
  key: "test/late#Helper",
  name: "Helper",
  id: 1,
  fingerprint: 0x61n,
  args: () => none,
  endpoints: () => ({
    ask: { id: 1, args: defineArgs(codec.tuple(codec.mesh(() => helper)), 1, 1) },
    wait: { id: 2, args: none },
    letGo: { id: 3, args: none },
    wasLetGo: { id: 4, args: none, result: codec.boolean },
  }),
});

interface HelperKind extends MeshKind {
  readonly mesh: HelperMesh<this["dims"]>;
}
interface HelperMesh<D extends string = string> extends ActorMesh<HelperKind, D> {
  readonly ask: Endpoint<[other: HelperMesh], void, D>;
  readonly wait: Endpoint<[], void, D>;
  readonly letGo: Endpoint<[], void, D>;
  readonly wasLetGo: Endpoint<[], boolean, D>;
}

class Helper extends Actor {
  static override readonly descriptor = helper;
  declare readonly $kind: HelperKind;
  #letGo = false;

  async ask(other: HelperMesh): Promise<void> {
    try {
      await other.wait.callOne();
    } finally {
      await other.letGo.callOne();
      this.#letGo = true;
    }
  }

  async wait(): Promise<void> {
    const { signal } = context();
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    signal.throwIfAborted();
  }

  /** Takes longer than the timer of its caller is late. */
  async letGo(): Promise<void> {
    await delay(400);
  }

  wasLetGo(): boolean {
    return this.#letGo;
  }
}

/** A clock that tells the right time, but whose timers fire late. */
function lateBy(late: number): Clock {
  return {
    now: () => systemClock.now(),
    epochMs: () => systemClock.epochMs(),
    after: (ms, task) => systemClock.after(ms + late, task),
    nextTurn: (task) => systemClock.nextTurn(task),
  };
}

let world: World;
afterEach(() => world.close());

test("a late caller rejects with its own timeout, and a call that a late handler then makes completes", async () => {
  world = new World({}, { root: lateBy(60_000), first: lateBy(100) });
  const first = world.spawn("first", Helper, [], [world.proc("first")]) as HelperMesh;
  const second = world.spawn("second", Helper, [], [world.proc("second")]) as HelperMesh;
  await expect(first.ask.with({ timeout: 100 }).callOne(second)).rejects.toThrow(
    "cannot call first.ask: no answer within 100 ms",
  );
  expect(await first.wasLetGo.callOne()).toBe(true);
});
