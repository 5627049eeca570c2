/** The state of a live actor: when it is saved, what happens at the end of the actor, and how a new actor starts with it. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ActorCell } from "../../../runtime/actor/cell/actor-cell.js";
import type { SavedState } from "../../../runtime/actor/reference/saved-state.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import { ManualClock } from "../../link/resumable/cut-world.js";
import { Counter, counterDescriptor } from "../counter.js";
import { settled } from "../parts.js";
import { type TestProc, World } from "../world.js";

const state = codec.object("CounterState", { count: codec.int32 });
const descriptor = Object.create(counterDescriptor, { state: { value: state } });

let clock: ManualClock;
let world: World;
let there: TestProc;
let log: string[];

class Saving extends Counter {
  save(): unknown {
    log.push("save");
    return { count: 5 };
  }
  async restore({ count }: { count: number }): Promise<void> {
    await settled();
    log.push(`restored ${count}`);
  }
  override init(): void {
    log.push("init");
  }
}

beforeEach(() => {
  clock = new ManualClock();
  world = new World({}, { there: clock });
  there = world.proc("there");
  log = [];
});
afterEach(() => world.close());

const shape = () => ({ mesh: 78n, rank: 0, incarnation: 0, name: "counter", extent: {}, owner: world.root.proc.id });
const create = (more: object = {}): ActorCell =>
  there.proc.createActor({ ...shape(), descriptor, actorClass: Saving, args: [0], ...more } as never);
const failure = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => new Error("no error"),
    (error) => error,
  );
const fail = (cell: ActorCell) => cell.fail({ kind: "killed", error: new Error("over"), at: 0 });

describe("the state of an actor", () => {
  test("is saved between two messages, and restored before `init` of the actor that replaces it", async () => {
    const saved = await create().lifecycle.save();
    expect(saved).toMatchObject({ mesh: "counter", rank: 0, state: state.toProtobuf({ count: 5 }) });
    expect(log).toEqual(["init", "save"]);
    log = [];
    const cell = create({ mesh: 79n, saved });
    expect(log).toEqual([]);
    await settled();
    await settled();
    expect([log, cell.lifecycle.state]).toEqual([["restored 5", "init"], "running"]);
  });

  test("that cannot be restored fails the actor without `init`", async () => {
    const saved: SavedState = { ...(await create().lifecycle.save()), actorId: 99 };
    log = [];
    const cell = create({ mesh: 79n, saved });
    expect([log, cell.lifecycle.state]).toEqual([[], "failed"]);
    expect((there.failures().at(-1)!.error as Error).message).toMatch(/it belongs to \S+, not to /);
  });

  test("cannot be saved after the end of the actor, and the error has the reason", async () => {
    const failed = create();
    fail(failed);
    expect(await failure(failed.lifecycle.save())).toMatchObject({
      name: "DeliveryError",
      reason: "failed",
      message: "the actor counter[0] has failed: Error: over",
    });
    const stopped = create({ mesh: 79n });
    await world.stop(there, 79n, { drain: 0 });
    expect(await failure(stopped.lifecycle.save())).toMatchObject({
      reason: "stopped",
      message: "the actor counter[0] was stopped: ordered",
    });
    expect(log).toEqual(["init", "init"]);
  });

  test("cannot be saved if the actor could not be created", async () => {
    const refused = { ...shape(), mesh: 80n };
    const cell = there.proc.refuseActor(refused, { kind: "constructor", error: new Error("no such module"), at: 0 });
    expect(cell.lifecycle.state).toBe("failed");
    expect((await failure(cell.lifecycle.save())).message).toBe(
      "the actor counter[0] has failed: Error: no such module",
    );
  });

  test("is not saved if the actor fails before its turn comes", async () => {
    class Starting extends Saving {
      override init(): never {
        return new Promise(() => {}) as never;
      }
    }
    const cell = create({ actorClass: Starting });
    const saving = failure(cell.lifecycle.save());
    await settled();
    fail(cell);
    expect((await saving).message).toBe("the actor counter[0] has failed: Error: over");
    expect(log).toEqual([]);
  });

  test("that is not stored within 4 s of the stop is given up, and the actor ends", async () => {
    there.proc.hooks.storeLastState = () => new Promise(() => {});
    const cell = create({ savesAtStop: true });
    const stopping = cell.lifecycle.stop({ reason: "ordered", drain: 0 });
    await settled();
    clock.pass(3999);
    await settled();
    expect(cell.lifecycle.state).toBe("stopping");
    clock.pass(1);
    await stopping;
    expect(there.events.filter(({ kind }) => kind === "lost").map(({ detail }) => (detail as Error).message)).toEqual([
      "it was not stored within 4000 ms",
    ]);
    expect(cell.lifecycle.state).toBe("stopped");
  });

  test("that is stored in time is not reported as lost", async () => {
    const cell = create({ savesAtStop: true });
    await cell.lifecycle.stop({ reason: "ordered", drain: 0 });
    expect(there.events.map(({ kind }) => kind)).toEqual(["started", "saved"]);
    expect(clock.waiting).toBe(0);
  });
});
