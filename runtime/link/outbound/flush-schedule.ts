/**
 * When what was written goes out: at the end of the tick, or when a link has handled what it has read, whichever comes
 * first. The second costs no tick: an answer that a handler gives at once leaves with the read that brought its call.
 */

export interface Flushable {
  flushScheduled(): void;
}

/** Waiting to go out: together, since a call to many arms as many. */
let scheduled: Flushable[] = [];
/** Links of this thread that handle what they have read, one of them called by another. */
let readsInProgress = 0;

/** Sees to it that it goes out. To be called once until then. */
export function scheduleFlush(flushed: Flushable): void {
  if (scheduled.push(flushed) === 1 && readsInProgress === 0) queueMicrotask(flushAfterMicrotasks);
}

/** A link handles what it has read. */
export function beginReading(): void {
  readsInProgress++;
}

/** It has, for each time that it has begun. */
export function endReading(): void {
  if (--readsInProgress === 0 && scheduled.length > 0) flushAll();
}

/** Behind the microtasks that are ready now: what they send goes into the same batch. */
function flushAfterMicrotasks(): void {
  process.nextTick(flushAll);
}

function flushAll(): void {
  const all = scheduled;
  scheduled = [];
  for (const flushed of all) flushed.flushScheduled();
}
