/** `JobContext.wait`: waits until some of several results are there. */
import { describeValue } from "../../../shared/text/describe-value.js";
import { checkOptionNames } from "../kernel.js";
import { ObjectRef, recordOf } from "../refs/object-ref.js";
import type { ContextMember } from "./member.js";
import { checkTimeout } from "./timeout.js";
import type { WaitOptions } from "./wait-options.js";
import { whileWaiting } from "./while-waiting.js";

type Ref = ObjectRef<unknown>;

const what = "cannot wait for results";

export async function waitForRefs(
  member: ContextMember,
  refs: readonly Ref[],
  options: WaitOptions,
): Promise<[Ref[], Ref[]]> {
  checkOptionNames(what, options, ["count", "timeout"]);
  const { count = 1, timeout } = options;
  const limit = checkTimeout(timeout, what);
  checkRefs(refs);
  const own = refs.map((ref) => member.refs.own(ref, what));
  if (refs.length === 0) return [[], []];
  checkCount(count, refs.length);
  await enoughSettled(member, own, count, limit);
  const done: Ref[] = [];
  const pending: Ref[] = [];
  for (const [i, ref] of refs.entries()) (own[i]!.isSettled && done.length < count ? done : pending).push(ref);
  return [done, pending];
}

async function enoughSettled(
  member: ContextMember,
  refs: readonly Ref[],
  count: number,
  limit: number | undefined,
): Promise<void> {
  let missing = count;
  for (const { isSettled } of refs) if (isSettled) missing--;
  if (missing <= 0) return;
  if (limit === 0) {
    // Results of other processes are asked for, so that a later look finds them.
    for (const ref of refs) recordOf(ref).result.whenDone(() => {});
    return;
  }
  const settled = new Promise<void>((resolve) => {
    const timer = limit === undefined ? undefined : member.clock.after(limit, resolve, true);
    for (const ref of refs) {
      if (ref.isSettled) continue;
      recordOf(ref).result.whenDone(() => {
        if (--missing > 0) return;
        timer?.cancel();
        resolve();
      });
    }
  });
  await whileWaiting(
    member,
    refs.filter(({ isSettled }) => !isSettled),
    settled,
  );
}

function checkRefs(refs: unknown): asserts refs is readonly Ref[] {
  if (!Array.isArray(refs)) throw new TypeError(`${what}: expected a list of ObjectRefs, got ${describeValue(refs)}`);
  const seen = new Set<unknown>();
  for (const [i, ref] of refs.entries()) {
    if (!(ref instanceof ObjectRef)) {
      throw new TypeError(`${what}: expected a list of ObjectRefs, got ${describeValue(ref)} at position ${i}`);
    }
    if (seen.has(ref)) {
      throw new RangeError(`${what}: expected each ObjectRef once, got ${ref.label} again at position ${i}`);
    }
    seen.add(ref);
  }
}

function checkCount(count: unknown, size: number): void {
  if (Number.isSafeInteger(count) && (count as number) >= 1 && (count as number) <= size) return;
  const text = `${what}: expected count from 1 to ${size}, the number of references, got ${describeValue(count)}`;
  throw typeof count === "number" ? new RangeError(text) : new TypeError(text);
}
