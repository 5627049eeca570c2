/** These tests check when checkpoints are taken and stored, with a clock that stands still and stores that fail or wait. */
import { beforeEach, expect, test } from "vitest";
import type { Checkpoint } from "../../../generated/checkpoint.js";
import { MeshCheckpoints } from "../../../runtime/proc/mesh/mesh-checkpoints.js";
import type { CheckpointPlace, CheckpointStore } from "../../../runtime/supervise/checkpoint-store.js";
import { StillClock, settled } from "../../actor/parts.js";

let clock: StillClock;
let saves: number[];
let warnings: string[];
let dead: Set<number>;
let departed: Set<number>;
let failing: Error | undefined;

beforeEach(() => {
  clock = new StillClock();
  saves = [];
  warnings = [];
  dead = new Set();
  departed = new Set();
  failing = undefined;
});

function checkpoint(rank: number, state = 0, mesh = "counters"): Checkpoint {
  const type = { fingerprint: 1n, schema: "{}" };
  return { actor: "a#A", actorId: 1, mesh, rank, at: new Date(0), ...type, state: Uint8Array.of(state) };
}

/** A store whose writes end when the test says so. */
class SlowStore implements CheckpointStore {
  readonly written: number[] = [];
  readonly pending: { done: () => void; fail: (error: Error) => void }[] = [];
  answer: () => Promise<unknown> = async () => undefined;

  write(_place: CheckpointPlace, { state }: Checkpoint): Promise<void> {
    return new Promise((done, fail) => {
      const store = () => {
        this.written.push(state[0]!);
        done();
      };
      this.pending.push({ done: store, fail });
    });
  }
  read(): Promise<Checkpoint | undefined> {
    return this.answer() as Promise<Checkpoint | undefined>;
  }
  async delete(): Promise<void> {}
}

function make(store: CheckpointStore | undefined, every?: number): MeshCheckpoints {
  const mesh = {
    name: "counters",
    size: 2,
    isLiving: (rank: number) => !dead.has(rank),
    hasLeft: (rank: number) => departed.has(rank),
    save: async (rank: number) => {
      saves.push(rank);
      if (failing !== undefined) throw failing;
      return checkpoint(rank, saves.length);
    },
    warn: (text: string) => void warnings.push(text),
  };
  return new MeshCheckpoints(mesh, { ...(store && { store }), ...(every && { every }) }, clock);
}

test("without a store, the checkpoints are kept in memory, each rank with its last one", async () => {
  const checkpoints = make(undefined);
  expect([checkpoints.isDurable, await checkpoints.read(0)]).toEqual([false, undefined]);
  await checkpoints.take([0, 1]);
  await checkpoints.take([1]);
  expect((await checkpoints.read(0))?.state[0]).toBe(1);
  expect((await checkpoints.read(1))?.state[0]).toBe(3);
});

test("requests during a checkpoint share one further checkpoint, and regular ones are left out", async () => {
  const store = new SlowStore();
  const checkpoints = make(store, 100);
  checkpoints.start();
  clock.pass(100);
  await settled();
  expect(saves).toEqual([0, 1]);
  clock.pass(100);
  clock.pass(100);
  const asked = [checkpoints.take([0]), checkpoints.take([0])];
  await settled();
  expect(saves).toEqual([0, 1]);
  for (const { done } of store.pending.splice(0)) done();
  await settled();
  expect(saves).toEqual([0, 1, 0]);
  for (const { done } of store.pending.splice(0)) done();
  await Promise.all(asked);
  expect(store.written).toEqual([1, 2, 3]);
  checkpoints.stop();
  clock.pass(1000);
  expect(saves.length).toBe(3);
});

test("a reader waits for the checkpoint that is being stored, and the last state is stored after it", async () => {
  const store = new SlowStore();
  store.answer = async () => checkpoint(0, store.written.at(-1));
  const checkpoints = make(store);
  const taken = checkpoints.take([0]);
  await settled();
  let read: Checkpoint | undefined;
  void checkpoints.read(0).then((found) => (read = found));
  const last = checkpoints.storeLast(0, checkpoint(0, 9));
  await settled();
  expect([read, store.pending.length]).toEqual([undefined, 1]);
  store.pending.shift()!.done();
  await taken;
  await settled();
  expect(read?.state[0]).toBe(1);
  store.pending.shift()!.done();
  await last;
  expect(store.written).toEqual([1, 9]);
});

test("regular checkpoints that fail warn once, until one has succeeded, and skip ranks that do not live", async () => {
  const checkpoints = make(undefined, 10);
  dead.add(1);
  checkpoints.start();
  failing = new Error("save threw: boom");
  for (let i = 0; i < 3; i++) {
    clock.pass(10);
    await settled();
  }
  expect(saves).toEqual([0, 0, 0]);
  expect(warnings).toEqual(["cannot checkpoint counters[0]: save threw: boom"]);
  failing = undefined;
  clock.pass(10);
  await settled();
  failing = new Error("again");
  clock.pass(10);
  await settled();
  expect(warnings.slice(1)).toEqual(["cannot checkpoint counters[0]: again"]);
});

test("the checkpoint of a rank that leaves is released, and one that is being taken is not stored", async () => {
  const memory = make(undefined);
  await memory.take([0, 1]);
  memory.release(1);
  expect([(await memory.read(0))?.state, await memory.read(1)]).toEqual([Uint8Array.of(1), undefined]);
  const taken = memory.take([1]);
  memory.release(1);
  await expect(taken).rejects.toThrow("cannot checkpoint counters[1]: the actor has left the mesh, which was resized");
  expect(await memory.read(1)).toBe(undefined);
  departed.add(1);
  await expect(memory.take([1])).rejects.toThrow("the actor has left the mesh");
  expect(saves.length).toBe(3);
  departed.clear();
  // The rank has come back.
  await memory.take([1]);
  expect((await memory.read(1))?.state).toEqual(Uint8Array.of(4));
});

test("a store of the user keeps the checkpoint of a rank that leaves", async () => {
  const store = new SlowStore();
  const checkpoints = make(store);
  const taken = checkpoints.take([1]);
  await settled();
  checkpoints.release(1);
  store.pending[0]!.done();
  await taken;
  expect(store.written).toEqual([1]);
});

test("a store that does not answer, throws, or returns something else fails the reader with the reason", async () => {
  const store = new SlowStore();
  const checkpoints = make(store);
  const reading = () => checkpoints.read(1).then(String, (error: Error) => error.message);
  store.answer = () => new Promise(() => {});
  const late = reading();
  await settled();
  clock.pass(30_000);
  expect(await late).toBe("cannot restore counters[1]: its store did not answer within 30000 ms");
  store.answer = () => Promise.reject(new Error("no route"));
  expect(await reading()).toBe("cannot restore counters[1]: its store failed: no route");
  store.answer = async () => ({ state: Uint8Array.of(1) });
  expect(await reading()).toMatch(/^cannot restore counters\[1\]: its store failed: cannot encode Checkpoint\.actor: /);
  store.answer = async () => "text";
  expect(await reading()).toMatch(/^cannot restore counters\[1\]: its store failed: /);
  store.answer = async () => checkpoint(1, 0, "others");
  expect(await reading()).toBe("cannot restore counters[1]: its store returned the checkpoint of others[1]");
  store.answer = async () => checkpoint(0);
  expect(await reading()).toBe("cannot restore counters[1]: its store returned the checkpoint of counters[0]");
});

test("a write that fails rejects its request, and the next request is tried again", async () => {
  const store = new SlowStore();
  const checkpoints = make(store);
  const first = checkpoints.take([0, 1]);
  await settled();
  for (const [i, { fail }] of store.pending.splice(0).entries()) fail(new Error(`full ${i}`));
  await expect(first).rejects.toMatchObject({
    message: "cannot checkpoint counters[0]: its store failed: full 0",
    others: [{ message: "cannot checkpoint counters[1]: its store failed: full 1" }],
  });
  const second = checkpoints.take([0]);
  await settled();
  store.pending.shift()!.done();
  await second;
});
