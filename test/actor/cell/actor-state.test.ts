/** These tests check how the state of an actor is saved and restored, without processes. */
import { beforeEach, expect, test } from "vitest";
import { restoreState, SAVE_MS, saveState } from "../../../runtime/actor/cell/actor-state.js";
import { NoMessageTurn } from "../../../runtime/actor/context.js";
import type { LocalActor } from "../../../runtime/actor/reference/local-actor.js";
import type { SavedState } from "../../../runtime/actor/reference/saved-state.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import { defineActor, defineArgs } from "../../../runtime/wire/descriptor.js";
import { Parts } from "../parts.js";

const stateCodec = codec.object("CounterState", { count: codec.int32 });
const widerCodec = codec.object("CounterState", { count: codec.int32, step: codec.optional(codec.int32) });
const otherCodec = codec.object("CounterState", { count: codec.string });

function descriptorOf(state: typeof stateCodec | typeof widerCodec | typeof otherCodec | undefined, id = 7) {
  return defineActor({
    key: `test/counter#Counter${id}`,
    name: "Counter",
    id,
    fingerprint: 1n,
    args: () => defineArgs(codec.tuple(), 0, 0),
    ...(state && { state: () => state as never }),
    endpoints: () => ({}),
  });
}

let parts: Parts;
beforeEach(() => {
  parts = new Parts();
});

function actorWith(instance: object, descriptor = descriptorOf(stateCodec)): LocalActor {
  const spec = { name: "counters", rank: 1, descriptor };
  return { ...parts.cell, name: "counters[1]", spec, instance, token: [7, 1] } as unknown as LocalActor;
}

function restored(saved: SavedState, descriptor: ReturnType<typeof descriptorOf>): unknown {
  let got: unknown;
  const restore = (state: unknown) => {
    got = state;
  };
  const actor = actorWith({ restore }, descriptor);
  restoreState(actor, new NoMessageTurn(actor), saved);
  return got;
}

const save = (instance: object) => saveState(actorWith(instance), parts.clock);

test("a state is saved with the actor, its place and its type, and restored", async () => {
  const saved = await save({ save: () => ({ count: 5 }) });
  expect(saved).toMatchObject({ actor: "test/counter#Counter7", actorId: 7, mesh: "counters", rank: 1 });
  expect(saved.fingerprint).toBe(stateCodec.fingerprint);
  expect(saved.state).toEqual(stateCodec.toProtobuf({ count: 5 }));
  expect(restored(saved, descriptorOf(stateCodec))).toEqual({ count: 5 });
});

test("a state is readable by the protobuf rules if its type has gained or lost fields", async () => {
  const saved = await save({ save: async () => ({ count: 5 }) });
  expect(restored(saved, descriptorOf(widerCodec))).toEqual({ count: 5 });
  const wide = actorWith({ save: () => ({ count: 6, step: 2 }) }, descriptorOf(widerCodec));
  expect(restored(await saveState(wide, parts.clock), descriptorOf(stateCodec))).toMatchObject({ count: 6 });
});

test("a state with an incompatible type, of another actor, or with damaged bytes is refused", async () => {
  const saved = { ...(await save({ save: () => ({ count: 5 }) })), at: new Date(0) };
  const failed = "cannot restore counters[1] from its checkpoint of 1970-01-01T00:00:00.000Z: ";
  const refusal = (from: SavedState, descriptor = descriptorOf(stateCodec)) => {
    try {
      return restored(from, descriptor);
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(refusal(saved, descriptorOf(otherCodec))).toMatch(
    /it has another schema of CounterState, which cannot be read \(was: there, is: here\):\n {2}VC\d+ \S+ at CounterState\.count: /,
  );
  expect(refusal({ ...saved, fingerprint: 1n, schema: "{" }, descriptorOf(stateCodec))).toMatch(
    /it has another schema of CounterState, which cannot be read \(was: there, is: here\): its description cannot be read: /,
  );
  expect(refusal(saved, descriptorOf(stateCodec, 8))).toBe(
    `${failed}it belongs to test/counter#Counter7, not to test/counter#Counter8`,
  );
  expect(refusal({ ...saved, state: Uint8Array.of(8) })).toMatch(/: cannot decode CounterState/);
  expect(refusal(saved, descriptorOf(undefined))).toBe(`${failed}its actor interface declares no state`);
  const silent = actorWith({});
  expect(() => restoreState(silent, new NoMessageTurn(silent), saved)).toThrow(
    `${failed}its class has no method restore`,
  );
});

test("errors of restore name the checkpoint, whether it throws or rejects", async () => {
  const saved = { ...(await save({ save: () => ({ count: 5 }) })), at: new Date(0) };
  const message = /^cannot restore counters\[1\] from its checkpoint of 1970-\S+: restore threw: no$/;
  const throwing = actorWith({
    restore() {
      throw new Error("no");
    },
  });
  expect(() => restoreState(throwing, new NoMessageTurn(throwing), saved)).toThrow(message);
  const rejecting = actorWith({ restore: () => Promise.reject(new Error("no")) });
  await expect(restoreState(rejecting, new NoMessageTurn(rejecting), saved)).rejects.toThrow(message);
});

test("a save that throws, rejects, returns something else, or does not exist is refused", async () => {
  const boom = () => {
    throw new Error("boom");
  };
  await expect(save({ save: boom })).rejects.toThrow("save threw: boom");
  await expect(save({ save: async () => boom() })).rejects.toThrow("save threw: boom");
  await expect(save({ save: () => undefined })).rejects.toThrow("save returned no CounterState: cannot encode ");
  await expect(save({ save: () => ({ count: () => 1 }) })).rejects.toThrow(
    "save returned no CounterState: cannot encode CounterState.count: ",
  );
  await expect(save({})).rejects.toThrow("its class has no method save");
});

test("a state of more than 2 GiB is refused, and one with large arrays is copied before the actor changes them", async () => {
  const loadCodec = codec.object("Load", { load: codec.bytes });
  const load = new Uint8Array(100_000).fill(1);
  const actor = actorWith({ save: () => ({ load }) }, descriptorOf(loadCodec as never));
  const saving = saveState(actor, parts.clock);
  const { state } = await saving;
  load.fill(2);
  expect(Buffer.compare(state, loadCodec.toProtobuf({ load: new Uint8Array(100_000).fill(1) }))).toBe(0);
  // The system gives out no memory for bytes that are never touched.
  const huge = actorWith({ save: () => ({ load: new Uint8Array(2 ** 31) }) }, descriptorOf(loadCodec as never));
  await expect(saveState(huge, parts.clock)).rejects.toThrow(
    "save returned no Load: cannot encode Load: it takes more than 2147483640 bytes",
  );
});

test("errors of save and restore have what was thrown as their cause", async () => {
  const thrown = new Error("boom");
  const boom = () => {
    throw thrown;
  };
  const causeOf = (run: () => unknown): Promise<unknown> =>
    Promise.resolve()
      .then(run)
      .then(
        () => "no error",
        (error: Error) => error.cause,
      );
  expect(await causeOf(() => save({ save: boom }))).toBe(thrown);
  expect(await causeOf(() => save({ save: () => undefined }))).toBeInstanceOf(Error);
  const saved = await save({ save: () => ({ count: 5 }) });
  const throwing = actorWith({ restore: boom });
  expect(await causeOf(() => restoreState(throwing, new NoMessageTurn(throwing), saved))).toBe(thrown);
  const damaged = { ...saved, state: Uint8Array.of(8) };
  expect(await causeOf(() => restoreState(throwing, new NoMessageTurn(throwing), damaged))).toBeInstanceOf(Error);
});

test("an actor whose interface declares no state, that has no interface or no instance, cannot be saved or restored", async () => {
  const saved = { ...(await save({ save: () => ({ count: 5 }) })), at: new Date(0) };
  const refusals = async (actor: LocalActor): Promise<string[]> => {
    const message = (error: Error) => error.message;
    let restoring = "none";
    try {
      restoreState(actor, new NoMessageTurn(actor), saved);
    } catch (error) {
      restoring = (error as Error).message;
    }
    return [await saveState(actor, parts.clock).then(() => "none", message), restoring];
  };
  const failed = "cannot restore counters[1] from its checkpoint of 1970-01-01T00:00:00.000Z: ";
  const undeclared = "its actor interface declares no state";
  const methods = { save: () => ({ count: 5 }), restore: () => {} };
  const stateless = actorWith(methods, descriptorOf(undefined));
  expect(await refusals(stateless)).toEqual([undeclared, failed + undeclared]);
  const root = { ...actorWith(methods), spec: { name: "counters", rank: 1 } } as unknown as LocalActor;
  expect(await refusals(root)).toEqual([undeclared, failed + undeclared]);
  const ended = { ...actorWith(methods), instance: undefined } as unknown as LocalActor;
  expect(await refusals(ended)).toEqual(["its class has no method save", `${failed}its class has no method restore`]);
});

test("the timer of a save is stopped when the save ends", async () => {
  const timers = parts.clock.waiting;
  await save({ save: async () => ({ count: 5 }) });
  await save({ save: () => Promise.reject(new Error("boom")) }).catch(() => {});
  expect(parts.clock.waiting).toBe(timers);
});

test("a save that never ends is given up, and what it does later is ignored", async () => {
  let reject: ((error: Error) => void) | undefined;
  const saving = save({ save: () => new Promise((_, no) => (reject = no)) });
  parts.clock.pass(SAVE_MS);
  await expect(saving).rejects.toThrow(`save did not end within ${SAVE_MS} ms`);
  reject!(new Error("late"));
});
