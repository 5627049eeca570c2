/**
 * Saves the state of an actor for a checkpoint, and restores it in a new actor. The actor handles no message meanwhile. The
 * state is in the protobuf layout, so that a later version of the schema can read it.
 */
import type { Clock } from "../../link/clock.js";
import { thrownMessage } from "../../thrown.js";
import type { Codec } from "../../wire/codec.js";
import { MessageCodec } from "../../wire/message-codec.js";
import { type AnyTurn, NoMessageTurn, runInTurn } from "../context.js";
import type { LocalActor } from "../reference/local-actor.js";
import { joinParts, type SavedState, type StateCopier } from "../reference/saved-state.js";
import { describeState, stateDifferences } from "../schema/state-schema.js";
import { promiseFrom } from "./invoke.js";

/** The time limit of `save`, in milliseconds. The actor handles no message until then. */
export const SAVE_MS = 10_000;

/** The methods of a class whose actor interface declares a state. The generated base class has their types. */
interface StatefulActor {
  save?(): unknown;
  restore?(state: unknown): unknown;
}

const late = Symbol("late");

/**
 * Calls `save` and encodes its result.
 *
 * @param limit the time for `save` in milliseconds
 * @throws {Error} as a rejection, whose message says what is wrong with `save` or its result
 */
export async function saveState(
  actor: LocalActor,
  clock: Clock,
  limit = SAVE_MS,
  copy: StateCopier = joinParts,
): Promise<SavedState> {
  const { spec } = actor;
  const { descriptor } = spec;
  const codec = descriptor?.state;
  const instance = actor.instance as StatefulActor | undefined;
  if (descriptor === undefined || codec === undefined) throw new Error("its actor interface declares no state");
  if (typeof instance?.save !== "function") throw new Error("its class has no method save");
  const value = await callSave(actor, instance, clock, limit);
  return {
    actor: descriptor.key,
    actorId: descriptor.id,
    mesh: spec.name,
    rank: spec.rank,
    at: new Date(clock.epochMs()),
    fingerprint: codec.fingerprint,
    schema: describeState(codec),
    state: copy(encode(codec, value)),
  };
}

async function callSave(actor: LocalActor, instance: StatefulActor, clock: Clock, limit: number): Promise<unknown> {
  const turn = new NoMessageTurn(actor, actor.token);
  let value: unknown;
  try {
    value = runInTurn(turn, () => instance.save?.());
    const saving = promiseFrom(turn, value);
    if (saving !== undefined) value = await within(saving, clock, limit);
  } catch (error) {
    throw new Error(`save threw: ${thrownMessage(error)}`, { cause: error });
  }
  if (value === late) throw new Error(`save did not end within ${limit} ms`);
  return value;
}

function within(saving: Promise<unknown>, clock: Clock, ms: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(ms, () => resolve(late));
    const done = (): void => timer.cancel();
    saving.then(resolve, reject);
    saving.then(done, done);
  });
}

function encode(codec: Codec<unknown>, value: unknown): Uint8Array[] {
  try {
    return codec instanceof MessageCodec ? codec.toProtobufParts(value) : [codec.toProtobuf(value)];
  } catch (error) {
    throw new Error(`save returned no ${codec.name}: ${thrownMessage(error)}`, { cause: error });
  }
}

/**
 * Decodes a saved state and passes it to `restore`, in the given turn.
 *
 * @returns a promise if `restore` returns one
 * @throws {Error} when the state is not one of this actor, cannot be decoded, or `restore` throws
 */
export function restoreState(actor: LocalActor, turn: AnyTurn, saved: SavedState): Promise<unknown> | undefined {
  const failed = (why: string, cause?: unknown): Error => {
    const at = saved.at.toISOString();
    return new Error(
      `cannot restore ${actor.name} from its checkpoint of ${at}: ${why}`,
      cause ? { cause } : undefined,
    );
  };
  const { descriptor } = actor.spec;
  const codec = descriptor?.state;
  const instance = actor.instance as StatefulActor | undefined;
  if (descriptor === undefined || codec === undefined) throw failed("its actor interface declares no state");
  if (saved.actorId !== descriptor.id) throw failed(`it belongs to ${saved.actor}, not to ${descriptor.key}`);
  if (typeof instance?.restore !== "function") throw failed("its class has no method restore");
  const apart = stateDifferences(codec, saved);
  if (apart !== undefined) {
    throw failed(`it has another schema of ${codec.name}, which cannot be read (was: there, is: here):${apart}`);
  }
  let state: unknown;
  try {
    state = codec.fromProtobuf(saved.state);
  } catch (error) {
    throw failed(thrownMessage(error), error);
  }
  const threw = (error: unknown): never => {
    throw failed(`restore threw: ${thrownMessage(error)}`, error);
  };
  try {
    return promiseFrom(
      turn,
      runInTurn(turn, () => instance.restore?.(state)),
    )?.catch(threw);
  } catch (error) {
    return threw(error);
  }
}
