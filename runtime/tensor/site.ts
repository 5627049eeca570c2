/** Where in a user's code an operation is recorded, which its failure on another machine will name. Asked for each operation. */
import { fileURLToPath } from "node:url";

/** What paths of this package's frames begin with: its files are in one folder, built or not. */
const here = fileURLToPath(import.meta.url);
const folder = here.slice(0, here.lastIndexOf("/") + 1);

/** By file, line and column as the engine knows them; the text has them as source maps tell. */
const known = new Map<string, string>();

export function site(): string {
  const { stackTraceLimit } = Error;
  try {
    Error.stackTraceLimit = 16;
    const stack = frames();
    const at = stack.findIndex((frame) => !isOurs(frame.getFileName()));
    const frame = stack[at];
    if (frame === undefined) return "an unknown place";
    const key = `${frame.getFileName()}:${frame.getLineNumber()}:${frame.getColumnNumber()}`;
    let text = known.get(key);
    if (text === undefined) {
      // The first line is the message; this function is one frame nearer than what `frames` has seen.
      text = placeIn(new Error("site").stack?.split("\n")[at] ?? "") ?? key;
      known.set(key, text);
    }
    return text;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Cheap: nothing is formatted. */
function frames(): readonly NodeJS.CallSite[] {
  const { prepareStackTrace } = Error;
  try {
    Error.prepareStackTrace = (_, sites) => sites;
    return new Error("site").stack as unknown as readonly NodeJS.CallSite[];
  } finally {
    if (prepareStackTrace === undefined) Reflect.deleteProperty(Error, "prepareStackTrace");
    else Error.prepareStackTrace = prepareStackTrace;
  }
}

function isOurs(file: string | null | undefined): boolean {
  if (file === null || file === undefined) return true;
  const name = file.startsWith("file:") ? fileURLToPath(file) : file;
  return name.startsWith(folder) || name.startsWith("node:");
}

/** `/src/train.ts:12:20` */
function placeIn(line: string): string | undefined {
  const [, place] = /\(?((?:file:\/\/)?\/[^()]*:\d+:\d+)\)?$/.exec(line) ?? [];
  return place?.startsWith("file:") ? fileURLToPath(place) : place;
}
