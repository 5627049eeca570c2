/** The time limit for hosts that start. */
import { MAX_TIMER_MS } from "../link/clock.js";
import type { Report } from "./provider.js";

export interface StartLimit {
  /** Aborted when the time is over. */
  readonly signal: AbortSignal;
  /** Passes events on, and notes whether the hosts wait. */
  readonly report: Report;
  end(): void;
}

/** Starts a time limit in ms. The time in the queue of a scheduler does not count. @param report gets the events */
export function startLimit(ms: number, report: Report): StartLimit {
  const late = new AbortController();
  const start = () => setTimeout(() => late.abort(), Math.min(ms, MAX_TIMER_MS));
  let timer: NodeJS.Timeout | undefined = start();
  const end = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  return {
    signal: late.signal,
    report: (event) => {
      report(event);
      if (event.kind === "pending") end();
      else timer ??= start();
    },
    end,
  };
}
