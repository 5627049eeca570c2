/** Where in a user's code an operation is recorded, which its failure on another machine will name. Asked for each operation. */
import { fileURLToPath } from "node:url";

/** What paths of this package's frames begin with: its files are in one folder, built or not. */
const here = fileURLToPath(import.meta.url);
const folder = here.slice(0, here.lastIndexOf("/") + 1);

interface Place {
  readonly text: string;
  /** By which the addon knows it; undefined: it has not been told. */
  number: number | undefined;
}

/** By file and position as the engine knows them; the text has them as source maps tell. */
const known = new Map<string, Map<number, Place>>();
/** Whether a file is one of ours. */
const ours = new Map<string, boolean>();
const unknown: Place = { text: "an unknown place", number: undefined };

/** Where an operation is called by what is ours as well. */
const many = 64;

/** What a user has called, as far as that is known: who has called it is looked for above it. */
let entered: Caller = site;

// biome-ignore lint/complexity/noBannedTypes: what captureStackTrace takes
type Caller = Function;

/** An operation begins that was called by its own function: one frame is enough then. */
export function enter(by: Caller): void {
  entered = by;
}

export function site(): string {
  return (placeOf(many, site) ?? unknown).text;
}

/** The same as a number, which is cheaper: most places are known. @param add gives a text its number */
export function siteNumber(add: (text: string) => number): number {
  const place = placeOf(1, entered) ?? placeOf(many, siteNumber) ?? unknown;
  place.number ??= add(place.text);
  return place.number;
}

/** The first frame above a function that is not ours. */
function placeOf(limit: number, above: Caller): Place | undefined {
  const stack = frames(limit, above);
  for (let at = 0; at < stack.length; at++) {
    const frame = stack[at]!;
    const file = frame.getFileName();
    if (file === null || file === undefined || isOurs(file)) continue;
    let places = known.get(file);
    if (places === undefined) {
      places = new Map();
      known.set(file, places);
    }
    // Cheaper than line and column, which the engine would count.
    const position = frame.getPosition();
    let place = places.get(position);
    if (place === undefined) {
      const text = mapped(at, above) ?? `${file}:${frame.getLineNumber()}:${frame.getColumnNumber()}`;
      place = { text, number: undefined };
      places.set(position, place);
    }
    return place;
  }
  return undefined;
}

/** Nothing is formatted. None, where the function is not on the stack. */
function frames(limit: number, above: Caller): readonly NodeJS.CallSite[] {
  const { prepareStackTrace, stackTraceLimit } = Error;
  const holder: { stack?: unknown } = {};
  Error.stackTraceLimit = limit;
  Error.prepareStackTrace = asTheyAre;
  try {
    Error.captureStackTrace(holder, above);
    return holder.stack as readonly NodeJS.CallSite[];
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    // Undefined is as good as deleted, and a hundred times quicker.
    Error.prepareStackTrace = prepareStackTrace;
  }
}

function asTheyAre(_: Error, sites: NodeJS.CallSite[]): unknown {
  return sites;
}

/** One of those frames as text, by source maps. */
function mapped(at: number, above: Caller): string | undefined {
  const { stackTraceLimit } = Error;
  try {
    Error.stackTraceLimit = many;
    const error = new Error("site");
    Error.captureStackTrace(error, above);
    // The first line is the message.
    return placeIn(error.stack?.split("\n")[at + 1] ?? "");
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function isOurs(file: string): boolean {
  let known = ours.get(file);
  if (known === undefined) {
    const name = file.startsWith("file:") ? fileURLToPath(file) : file;
    known = name.startsWith(folder) || name.startsWith("node:");
    ours.set(file, known);
  }
  return known;
}

/** `/src/train.ts:12:20` */
function placeIn(line: string): string | undefined {
  const [, place] = /\(?((?:file:\/\/)?\/[^()]*:\d+:\d+)\)?$/.exec(line) ?? [];
  return place?.startsWith("file:") ? fileURLToPath(place) : place;
}
