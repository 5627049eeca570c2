/**
 * Where the modules of a program are on this machine. A program whose code was brought to a host has other paths there than on
 * the machine of the driver. Processes name modules to each other by the paths of the driver's machine, which mean the same on
 * all hosts; each process translates them when it loads a module.
 */
import { fileURLToPath, pathToFileURL } from "node:url";

/** The environment variable with the places of a program, as the text of {@link formatPlaces}. */
export const placesVariable = "VICEROY_CODE";

/** The beginning of the URL of a module of Viceroy itself, wherever it is installed: `viceroy:sync.mjs`. */
export const ownScheme = "viceroy:";

/** A folder of the driver's machine, and where it is here. Both are URLs with a slash at their ends. */
export interface MovedFolder {
  readonly from: string;
  /** A URL of a file, or `viceroy:` for the folder of Viceroy's own modules. */
  readonly to: string;
}

/**
 * The folders of a program that are elsewhere than on the driver's machine. The innermost that contains a module counts, and the first of
 * equal ones.
 */
export type ProgramPlaces = readonly MovedFolder[];

/** Returns places as the value of {@link placesVariable}. */
export function formatPlaces(places: ProgramPlaces): string {
  return JSON.stringify(places.map(({ from, to }) => [from, to]));
}

function parsePlaces(text: string | undefined): ProgramPlaces {
  if (text === undefined) return [];
  return (JSON.parse(text) as [string, string][]).map(([from, to]) => ({ from, to }));
}

/** The folder of Viceroy's own modules, as a URL. */
const ownFolder = new URL("./", import.meta.url).href;

let text: string | undefined;
let known: ProgramPlaces | undefined;

/** The places of the program in this process. */
function placesHere(): ProgramPlaces {
  const current = process.env[placesVariable];
  if (known === undefined || text !== current) {
    text = current;
    known = parsePlaces(current);
  }
  return known;
}

/** Returns the innermost folder that contains a module. @param folderOf returns the URL of a folder that may contain it */
function innermost(
  url: string,
  places: ProgramPlaces,
  folderOf: (place: MovedFolder) => string,
): MovedFolder | undefined {
  let found: MovedFolder | undefined;
  for (const place of places) {
    const folder = folderOf(place);
    if (url.startsWith(folder) && (found === undefined || folder.length > folderOf(found).length)) found = place;
  }
  return found;
}

const originFolder = ({ from }: MovedFolder): string => from;
const folderHere = ({ to }: MovedFolder): string => (to === ownScheme ? ownFolder : to);

/** Returns the URL of a module on this machine. @param url its URL on the driver's machine, or one of Viceroy's own modules */
export function locateModule(url: string, places = placesHere()): string {
  if (url.startsWith(ownScheme)) return ownFolder + url.slice(ownScheme.length);
  if (places.length === 0) return url;
  const query = url.indexOf("?");
  if (query >= 0) return locateQuery(url.slice(0, query), new URLSearchParams(url.slice(query)), places);
  const found = innermost(url, places, originFolder);
  return found === undefined ? url : locateModule(found.to + url.slice(found.from.length), []);
}

/** The parameters of the loader of TypeScript name modules, too. */
function locateQuery(url: string, parameters: URLSearchParams, places: ProgramPlaces): string {
  const located = new URLSearchParams();
  for (const [name, value] of parameters) {
    const options = name === "execArgv" ? (JSON.parse(value) as string[]) : undefined;
    const placed = options === undefined ? locateModule(value, places) : locateOptions(options, places);
    located.append(name, typeof placed === "string" ? placed : JSON.stringify(placed));
  }
  return `${locateModule(url, places)}?${located}`;
}

/** Returns the moved folder that contains a module of this machine. @param url its URL on this machine */
export function placeOfModule(url: string, places = placesHere()): MovedFolder | undefined {
  return innermost(url, places, folderHere);
}

/** Returns the URL by which other processes of the program know a module of this machine. */
export function originOfModule(url: string, places = placesHere()): string {
  const found = placeOfModule(url, places);
  if (found === undefined) return url;
  return found.from + url.slice(folderHere(found).length);
}

/** Returns options of Node.js with the paths and URLs of this machine: `--import=/app/hooks.js`. */
export function locateOptions(options: readonly string[], places: ProgramPlaces): string[] {
  return options.map((option) => {
    const start = option.startsWith("-") ? option.indexOf("=") + 1 : 0;
    return start === 0 && option.startsWith("-")
      ? option
      : option.slice(0, start) + locateText(option.slice(start), places);
  });
}

function locateText(value: string, places: ProgramPlaces): string {
  if (value.startsWith("file:")) return locateModule(value, places);
  return value.startsWith("/") ? locatePath(value, places) : value;
}

/** Returns the path of a file or folder on the machine of the places. Those of Viceroy itself are not known by path. */
export function locatePath(file: string, places: ProgramPlaces): string {
  const url = pathToFileURL(file).href;
  // The place of a folder contains the folder itself, whose path has no slash at its end.
  const found = innermost(
    `${url}/`,
    places.filter(({ to }) => to !== ownScheme),
    originFolder,
  );
  return found === undefined ? file : fileURLToPath(found.to + url.slice(found.from.length));
}

/**
 * Returns the places of a program on a machine to which this one brings the code. If the code was brought to this machine, too, the
 * program also knows its modules by the paths of the machine where it comes from.
 *
 * @param places where the folders of this machine are there
 */
export function placesOfNext(places: ProgramPlaces, own = placesHere()): ProgramPlaces {
  const first = own.flatMap((place): MovedFolder[] => {
    const here = folderHere(place);
    const next = innermost(here, places, originFolder);
    return next === undefined ? [] : [{ from: place.from, to: next.to + here.slice(next.from.length) }];
  });
  return [...first, ...places];
}
