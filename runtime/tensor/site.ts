/** Where in a user's code an operation is recorded, which its failure on another machine will name. Asked for each operation. */
import { fileURLToPath } from "node:url";

/** What paths of this package's frames begin with: its one file when it is built, its folder when it is not. */
const here = fileURLToPath(import.meta.url);
const folder = here.slice(0, here.lastIndexOf("/") + 1);

/** By file, line and column as the engine knows them; the text has them as source maps tell. */
const known = new Map<string, string>();
const listeners = new Set<() => void>();

/** Called whenever an operation is recorded. */
export function onRecorded(call: () => void): void {
  listeners.add(call);
}

export function site(): string {
  for (const call of listeners) call();
  const key = userFrame();
  let text = known.get(key);
  if (text === undefined) {
    text = describe(new Error("site").stack ?? "");
    known.set(key, text);
  }
  return text;
}

function isOurs(file: string): boolean {
  const name = file.startsWith("file:") ? fileURLToPath(file) : file;
  return name.startsWith(folder) || name.startsWith("node:");
}

/** Cheap: nothing is formatted. */
function userFrame(): string {
  const { stackTraceLimit, prepareStackTrace } = Error;
  try {
    Error.stackTraceLimit = 16;
    Error.prepareStackTrace = (_, frames) => frames;
    const frames = new Error("site").stack as unknown as readonly NodeJS.CallSite[];
    for (const frame of frames) {
      const file = frame.getFileName();
      if (file !== null && file !== undefined && !isOurs(file))
        return `${file}:${frame.getLineNumber()}:${frame.getColumnNumber()}`;
    }
    return "";
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    if (prepareStackTrace === undefined) Reflect.deleteProperty(Error, "prepareStackTrace");
    else Error.prepareStackTrace = prepareStackTrace;
  }
}

/** `/src/train.ts:12:20` of the first frame that is not ours. */
function describe(stack: string): string {
  for (const line of stack.split("\n")) {
    const [, place] = /\(?((?:file:\/\/|\/|node:)[^()]*:\d+:\d+)\)?$/.exec(line) ?? [];
    if (place === undefined || isOurs(place)) continue;
    return place.startsWith("file:") ? fileURLToPath(place) : place;
  }
  return "an unknown place";
}
