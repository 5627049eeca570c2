/**
 * When what was written goes out: at the end of the tick, or when a link has handled what it has read, whichever comes
 * first. The second costs no tick: an answer that a handler gives at once leaves with the read that brought its call.
 */

export interface Flushed {
  flushArmed(): void;
}

/** Waiting to go out: together, since a call to many arms as many. */
let armed: Flushed[] = [];
/** Links of this thread that handle what they have read, one of them called by another. */
let reading = 0;

/** Sees to it that it goes out. To be called once until then. */
export function arm(flushed: Flushed): void {
  if (armed.push(flushed) === 1 && reading === 0) queueMicrotask(flushLater);
}

/** A link handles what it has read. */
export function beginReading(): void {
  reading++;
}

/** It has, for each time that it has begun. */
export function endReading(): void {
  if (--reading === 0 && armed.length > 0) flushArmed();
}

/** Behind the microtasks that are ready now: what they send goes into the same batch. */
function flushLater(): void {
  process.nextTick(flushArmed);
}

function flushArmed(): void {
  const all = armed;
  armed = [];
  for (const flushed of all) flushed.flushArmed();
}
