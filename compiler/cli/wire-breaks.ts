/**
 * Finds the breaking changes of the wire format for `viceroy compile`: those that are not accepted, and the lock to
 * write. While there is one, the lock keeps the published state.
 */
import { type Config, ConfigError } from "../config/index.js";
import type { Break } from "../evolve/index.js";
import { type AcceptedBreak, holdBack, type Lock, publishedLock } from "../lock/index.js";
import { isAccepted, toAcceptedBreak } from "../pipeline/accepted-breaks.js";
import type { BaseLock } from "../pipeline/base-lock.js";
import { type CompiledOutput, NextLock } from "../pipeline/compile-project.js";
import { lockBreaks } from "../pipeline/lock-breaks.js";
import { type PrintedBreak, toPrintedBreak } from "./print-breaks.js";

/**
 * VC2013 and VC2014 report ids that have vanished from the lock or belong to another member, with the line to restore.
 */
const lostIds: ReadonlySet<string> = new Set(["VC5018", "VC5019"]);

export interface WireBreaks {
  /** The breaking changes that are not accepted. */
  readonly unaccepted: readonly Break[];
  /** The lock to write. */
  readonly lock: NextLock;
  /** The lock that the schemas require, with the changes that were accepted. A contract contains it. */
  readonly complete: Lock;
}

/**
 * @param base the published lock; undefined if it is equal to the lock on disk
 * @param accept the places whose changes are accepted in this run
 * @throws ConfigError if there is no breaking change at one of these places
 */
export function findWireBreaks(
  config: Config,
  { schema, lock }: CompiledOutput,
  base: BaseLock | undefined,
  accept: readonly string[],
): WireBreaks {
  const found = breaksOf();
  const asked = found.filter(({ place }) => accept.includes(place));
  for (const place of accept) if (!asked.some((one) => one.place === place)) throw nothingToAccept(place, found);
  const accepted: readonly AcceptedBreak[] = [...lock.lock.accepted, ...asked.map(toAcceptedBreak)];
  const open = found.filter((one) => !asked.includes(one));
  const next = { ...lock.lock, accepted };
  return {
    unaccepted: open,
    complete: next,
    lock: new NextLock(
      open.length > 0 && lock.previous ? holdBack(lock.previous, next) : next,
      lock.onDisk,
      lock.isNeeded,
    ),
  };

  function breaksOf(): readonly Break[] {
    if (lock.previous === undefined) return [];
    // An up-to-date lock means that nothing has changed.
    if (base === undefined && !lock.differsFromDisk) return [];
    const published = publishedLock(base?.lock ?? lock.previous);
    return lockBreaks(config, schema, published, lock.text)
      .filter(({ code }) => !lostIds.has(code))
      .filter((one) => !isAccepted(one, lock.lock));
  }
}

function nothingToAccept(place: string, found: readonly Break[]): ConfigError {
  const places = [...new Set(found.map((one) => one.place))];
  const others = places.length === 0 ? "there are no breaking changes" : `breaking changes are at ${places.join(", ")}`;
  return new ConfigError(`cannot accept the change of ${place}: it is not a breaking change; ${others}`);
}

/** @param severity `warning` for a compilation, `error` for a check */
export function toPrintedWireBreak(found: Break, severity: PrintedBreak["severity"]): PrintedBreak {
  const place = /^[\w.]+$/.test(found.place) ? found.place : `'${found.place}'`;
  const accept = `If it is intended, run \`npx viceroy compile --accept ${place}\`, which adds it to the lock.`;
  return {
    ...toPrintedBreak(found),
    severity,
    fix: found.fix === undefined ? accept : `${found.fix} ${accept}`,
  };
}
