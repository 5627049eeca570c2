/** Where in a user's code an operation is recorded, which its failure on another machine will name. Asked for each operation. */
import { fileURLToPath } from "node:url";

/** What paths of this package's frames begin with: its files are in one folder, built or not. */
const ownFile = fileURLToPath(import.meta.url);
const ownFolder = ownFile.slice(0, ownFile.lastIndexOf("/") + 1);

interface KnownCallSite {
  readonly text: string;
  /** By which the addon knows it; undefined: it has not been told. */
  number: number | undefined;
}

/** By file and position as the engine knows them; the text has them as source maps tell. */
const knownCallSites = new Map<string, Map<number, KnownCallSite>>();
/** Whether a file is one of ours. */
const ownFiles = new Map<string, boolean>();
const unknownCallSite: KnownCallSite = { text: "an unknown place", number: undefined };

/** Where an operation is called by what is ours as well. */
const maxFrames = 64;

/** What a user has called, as far as that is known: who has called it is looked for above it. */
let enteredFunction: CalledFunction = currentCallSite;

// biome-ignore lint/complexity/noBannedTypes: what captureStackTrace takes
type CalledFunction = Function;

/** An operation begins that was called by its own function: one frame is enough then. */
export function enterOperation(by: CalledFunction): void {
  enteredFunction = by;
}

export function currentCallSite(): string {
  return (findCallSite(maxFrames, currentCallSite) ?? unknownCallSite).text;
}

/** The same as a number, which is cheaper: most places are known. @param add gives a text its number */
export function callSiteNumber(add: (text: string) => number): number {
  const place = findCallSite(1, enteredFunction) ?? findCallSite(maxFrames, callSiteNumber) ?? unknownCallSite;
  place.number ??= add(place.text);
  return place.number;
}

/** The first frame above a function that is not ours. */
function findCallSite(limit: number, above: CalledFunction): KnownCallSite | undefined {
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
    // Cheaper than line and column, which the engine would count.
    const position = frame.getPosition();
    let place = places.get(position);
    if (place === undefined) {
      const text = sourceMappedPosition(at, above) ?? `${file}:${frame.getLineNumber()}:${frame.getColumnNumber()}`;
      place = { text, number: undefined };
      places.set(position, place);
    }
    return place;
  }
  return undefined;
}

/** Nothing is formatted. None, where the function is not on the stack. */
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
    // Undefined is as good as deleted, and a hundred times quicker.
    Error.prepareStackTrace = prepareStackTrace;
  }
}

function returnFrames(_: Error, sites: NodeJS.CallSite[]): unknown {
  return sites;
}

/** One of those frames as text, by source maps. */
function sourceMappedPosition(at: number, above: CalledFunction): string | undefined {
  const { stackTraceLimit } = Error;
  try {
    Error.stackTraceLimit = maxFrames;
    const error = new Error("site");
    Error.captureStackTrace(error, above);
    // The first line is the message.
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

/** `/src/train.ts:12:20` */
function positionIn(line: string): string | undefined {
  const [, place] = /\(?((?:file:\/\/)?\/[^()]*:\d+:\d+)\)?$/.exec(line) ?? [];
  return place?.startsWith("file:") ? fileURLToPath(place) : place;
}
