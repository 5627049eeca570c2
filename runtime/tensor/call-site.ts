/**
 * Finds the place in the user's code that records an operation. An error of the operation on another machine contains the
 * place. The search runs for each operation, or where the addon `stack` is built, for each place.
 */
import { fileURLToPath } from "node:url";

/** This file. Its folder contains all files of the package, in the sources and in the build. */
const ownFile = fileURLToPath(import.meta.url);
const ownFolder = ownFile.slice(0, ownFile.lastIndexOf("/") + 1);

interface KnownCallSite {
  readonly text: string;
  /** The number of the call site in the addon; undefined if it has not been registered. */
  number: number | undefined;
}

/** Call sites by file and position in the executed code. Their texts are positions in the source, by source maps. */
const knownCallSites = new Map<string, Map<number, KnownCallSite>>();
/** Whether a file belongs to this package, by its path. */
const ownFiles = new Map<string, boolean>();
const unknownCallSite: KnownCallSite = { text: "an unknown place", number: undefined };

/** The number of frames that are searched when the package calls the operation itself. */
const maxFrames = 64;

/** The function that the user called, if it is known. The search starts at its caller. */
let enteredFunction: CalledFunction = currentCallSite;

// biome-ignore lint/complexity/noBannedTypes: what captureStackTrace takes
type CalledFunction = Function;

/** Notes that the user called the function `by`. One stack frame is then sufficient. */
export function enterOperation(by: CalledFunction): void {
  enteredFunction = by;
}

export function currentCallSite(): string {
  return (findCallSite(maxFrames, currentCallSite)?.place ?? unknownCallSite).text;
}

/**
 * Returns the number of the current call site. Most call sites are known, so that no text is formatted.
 *
 * @param add registers a text and returns its number
 */
export function callSiteNumber(add: (text: string) => number): number {
  const found = findCallSite(1, enteredFunction) ?? findCallSite(maxFrames, callSiteNumber);
  const place = found?.place ?? unknownCallSite;
  place.number ??= add(place.text);
  return place.number;
}

/**
 * Returns the number of the current call site, and how many frames of the stack decide it: those below the frame of
 * `above`, up to that of the call site. All frames decide an unknown place.
 *
 * @param add registers a text and returns its number
 * @param above the function that was called to locate the site
 */
export function locateCallSite(
  add: (text: string) => number,
  above: CalledFunction,
): readonly [site: number, depth: number] {
  const found = findCallSite(maxFrames, above);
  const place = found?.place ?? unknownCallSite;
  place.number ??= add(place.text);
  return [place.number, found?.depth ?? maxFrames];
}

/** Returns the first call site above a function that is outside of this package, and the number of frames up to it. */
function findCallSite(
  limit: number,
  above: CalledFunction,
): { readonly place: KnownCallSite; readonly depth: number } | undefined {
  const stack = captureFrames(limit, above);
  for (let at = 0; at < stack.length; at++) {
    const frame = stack[at]!;
    const file = frame.getFileName();
    if (file === null || file === undefined || isOwnFile(file)) continue;
    let places = knownCallSites.get(file);
    if (places === undefined) {
      places = new Map();
      knownCallSites.set(file, places);
    }
    // The offset is cheaper than line and column, which the engine computes by counting.
    const position = frame.getPosition();
    let place = places.get(position);
    if (place === undefined) {
      const text = sourceMappedPosition(at, above) ?? `${file}:${frame.getLineNumber()}:${frame.getColumnNumber()}`;
      place = { text, number: undefined };
      places.set(position, place);
    }
    return { place, depth: at + 1 };
  }
  return undefined;
}

/** Returns unformatted frames above a function; none if the function is not on the stack. */
function captureFrames(limit: number, above: CalledFunction): readonly NodeJS.CallSite[] {
  const { prepareStackTrace, stackTraceLimit } = Error;
  const holder: { stack?: unknown } = {};
  Error.stackTraceLimit = limit;
  Error.prepareStackTrace = returnFrames;
  try {
    Error.captureStackTrace(holder, above);
    return holder.stack as readonly NodeJS.CallSite[];
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    // Setting undefined has the effect of deleting, and is a hundred times faster.
    Error.prepareStackTrace = prepareStackTrace;
  }
}

function returnFrames(_: Error, sites: NodeJS.CallSite[]): unknown {
  return sites;
}

/** Returns the position of one of these frames as text, by source maps. */
function sourceMappedPosition(at: number, above: CalledFunction): string | undefined {
  const { stackTraceLimit } = Error;
  try {
    Error.stackTraceLimit = maxFrames;
    const error = new Error("site");
    Error.captureStackTrace(error, above);
    // The first line of a stack is the message.
    return positionIn(error.stack?.split("\n")[at + 1] ?? "");
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function isOwnFile(file: string): boolean {
  let known = ownFiles.get(file);
  if (known === undefined) {
    const name = file.startsWith("file:") ? fileURLToPath(file) : file;
    known = name.startsWith(ownFolder) || name.startsWith("node:");
    ownFiles.set(file, known);
  }
  return known;
}

/** Extracts `/src/train.ts:12:20` from a line of a stack. */
function positionIn(line: string): string | undefined {
  const [, place] = /\(?((?:file:\/\/)?\/[^()]*:\d+:\d+)\)?$/.exec(line) ?? [];
  return place?.startsWith("file:") ? fileURLToPath(place) : place;
}
