/** `JobContext.get`: waits for values, and lets other tasks run meanwhile. */
import { TimeoutError } from "../../index.js";
import { currentCell } from "../kernel.js";
import { decodeHeld, type HeldValue } from "../objects/held-value.js";
import { type ObjectRef, ObjectRef as Ref, recordOf, setGetValue } from "../refs/object-ref.js";
import type { ValueCodec } from "../refs/value-codec.js";
import { currentScope } from "./current.js";
import type { GetOptions } from "./get-options.js";
import type { ContextMember } from "./member.js";
import { checkTimeout } from "./timeout.js";
import { whileWaiting } from "./while-waiting.js";

setGetValue((ref, options) => getOne(recordOf(ref).member as ContextMember, ref, options));

export function getOne(member: ContextMember, ref: ObjectRef<unknown>, options: GetOptions): Promise<unknown> {
  const what = "cannot get a result";
  const { result, codec, member: of } = recordOf(ref);
  // Most results are awaited by programs, without a limit: one promise is enough for them.
  if (
    of === member &&
    options.timeout === undefined &&
    codec.load === undefined &&
    currentScope()?.task === undefined
  ) {
    const reader = readerOf(member);
    return new Promise((resolve, reject) => {
      result.whenSettled(() => {
        const { value } = result;
        if (value === undefined) reject(result.error!);
        else decodeFor(codec, value, reader, resolve, reject);
      });
    });
  }
  return getWaiting(member, ref, options.timeout, what);
}

/** Returns who reads a value: each task and each actor reads memory of its own, and so does the program. */
function readerOf(member: ContextMember): object {
  const task = currentScope()?.task;
  if (task !== undefined) return task;
  const cell = currentCell();
  return cell.isRoot ? member : cell;
}

function decodeFor(
  codec: ValueCodec,
  value: HeldValue,
  reader: object,
  resolve: (value: unknown) => void,
  reject: (error: unknown) => void,
): void {
  try {
    resolve(decodeHeld(codec, value, reader));
  } catch (error) {
    reject(error);
  }
}

async function getWaiting(
  member: ContextMember,
  ref: ObjectRef<unknown>,
  timeout: number | undefined,
  what: string,
): Promise<unknown> {
  const limit = checkTimeout(timeout, what);
  const own = member.refs.own(ref, what);
  const { result } = recordOf(own);
  if (!result.isSettled) {
    const settled = new Promise<void>((resolve) => result.whenSettled(resolve));
    await whileWaiting(member, [own], limit === undefined ? settled : withLimit(member, settled, limit, [own]));
  }
  return valueIn(member, own);
}

export async function getAll(
  member: ContextMember,
  given: readonly unknown[],
  options: GetOptions,
): Promise<unknown[]> {
  const what = "cannot get results";
  const limit = checkTimeout(options.timeout, what);
  const own = given.map((one) => (one instanceof Ref ? member.refs.own(one, what) : one));
  const refs = own.filter((one): one is ObjectRef<unknown> => one instanceof Ref);
  const pending = refs.filter((ref) => !recordOf(ref).result.isSettled);
  if (pending.length > 0) {
    const settled = allSettledOrOneFailed(pending);
    await whileWaiting(member, pending, limit === undefined ? settled : withLimit(member, settled, limit, pending));
  }
  for (const ref of refs) {
    const { error } = recordOf(ref).result;
    if (error !== undefined) throw error;
  }
  return Promise.all(own.map((one) => (one instanceof Ref ? valueIn(member, one) : one)));
}

function valueIn(member: ContextMember, ref: ObjectRef<unknown>): unknown {
  const { result, codec } = recordOf(ref);
  const { value } = result;
  if (value === undefined) throw result.error!;
  const reader = readerOf(member);
  if (codec.load === undefined) return decodeHeld(codec, value, reader);
  return codec.load().then(() => decodeHeld(codec, value, reader));
}

function allSettledOrOneFailed(refs: readonly ObjectRef<unknown>[]): Promise<void> {
  return new Promise((resolve) => {
    let left = refs.length;
    for (const ref of refs) {
      const { result } = recordOf(ref);
      result.whenSettled(() => {
        if (--left === 0 || result.error !== undefined) resolve();
      });
    }
  });
}

function withLimit(
  member: ContextMember,
  settled: Promise<void>,
  limit: number,
  refs: readonly ObjectRef<unknown>[],
): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = member.clock.after(
      limit,
      () => {
        const missing = refs.filter((ref) => !recordOf(ref).result.isSettled);
        const names = missing.slice(0, 3).map(({ label }) => label);
        const more = missing.length > 3 ? ` and ${missing.length - 3} more` : "";
        reject(new TimeoutError(`no result of ${names.join(", ")}${more} within ${limit} ms`));
      },
      true,
    );
    void settled.then(() => {
      timer.cancel();
      resolve();
    });
  });
}
