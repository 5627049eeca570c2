/** Where in a user's code an operation is recorded, which its failure on another machine will name. Asked for each operation. */
import { fileURLToPath } from "node:url";

/** What paths of this package's frames begin with: its files are in one folder, built or not. */
const here = fileURLToPath(import.meta.url);
const folder = here.slice(0, here.lastIndexOf("/") + 1);

/** By file and position as the engine knows them; the text has them as source maps tell. */
const known = new Map<string, Map<number, string>>();
/** Whether a file is one of ours. */
const ours = new Map<string, boolean>();

/** Frames that are ours where an operation is called by itself: this file's, what calls the addon, and the operation. */
const few = 7;
/** Where it is called by what is ours as well. */
const many = 64;

export function site(): string {
  return placeOf(few) ?? placeOf(many) ?? "an unknown place";
}

function placeOf(limit: number): string | undefined {
  const stack = frames(limit);
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
    let text = places.get(position);
    if (text === undefined) {
      text = mapped(at) ?? `${file}:${frame.getLineNumber()}:${frame.getColumnNumber()}`;
      places.set(position, text);
    }
    return text;
  }
  return undefined;
}

/** Nothing is formatted. */
function frames(limit: number): readonly NodeJS.CallSite[] {
  const { prepareStackTrace, stackTraceLimit } = Error;
  const holder: { stack?: unknown } = {};
  Error.stackTraceLimit = limit;
  Error.prepareStackTrace = asTheyAre;
  try {
    Error.captureStackTrace(holder, frames);
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

/** A frame of whoever has called `placeOf`, as text, by source maps. */
function mapped(at: number): string | undefined {
  const { stackTraceLimit } = Error;
  try {
    Error.stackTraceLimit = many;
    // The first line is the message, the second is this function.
    return placeIn(new Error("site").stack?.split("\n")[at + 2] ?? "");
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
