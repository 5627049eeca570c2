/**
 * Schedules the sending of batches: at the end of the tick, or when a link has handled the bytes that it has read,
 * whichever comes first. The second case costs no tick: an answer that a handler gives at once is sent by the read that
 * has brought its call.
 */

export interface Flushable {
  flushScheduled(): void;
}

/** The outboxes that wait to be flushed. They share one callback, because a call to many actors schedules as many outboxes. */
let scheduled: Flushable[] = [];
/** The number of links of this thread that are handling bytes that they have read. Handling can nest. */
let readsInProgress = 0;

/** Schedules a flush. It must not be called again before the flush. */
export function scheduleFlush(flushed: Flushable): void {
  if (scheduled.push(flushed) === 1 && readsInProgress === 0) queueMicrotask(flushAfterMicrotasks);
}

/** A link starts to handle bytes that it has read. */
export function beginReading(): void {
  readsInProgress++;
}

/** A link has handled the bytes. The function is called once for each `beginReading`. */
export function endReading(): void {
  if (--readsInProgress === 0 && scheduled.length > 0) flushAll();
}

/** Flushes after the microtasks that are ready now, so that what they send joins the same batch. */
function flushAfterMicrotasks(): void {
  process.nextTick(flushAll);
}

function flushAll(): void {
  const all = scheduled;
  scheduled = [];
  for (const flushed of all) flushed.flushScheduled();
}
