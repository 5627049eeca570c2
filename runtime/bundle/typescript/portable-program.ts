/**
 * A prepared program that is a part of a tree of files. The machine of the driver prepares it once, `runtime/sync` brings it to the
 * hosts with the tree, and processes there load it without preparing anything. A process uses it only if it would have prepared
 * the same, and if nobody has changed the sources in the tree.
 */
import { lstatSync, statSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { fnv1aText } from "../../../shared/hash/fnv1a.js";
import { readPrivateFile } from "../../cache/private-files.js";
import { originOfModule, placeOfModule } from "../../proc/platform/program-places.js";
import { isAsWritten } from "../../sync/store/written-file.js";
import { version } from "../../version.js";
import { arePrivate, type ProgramSource, requiredPrefix } from "./program.js";
import { findTypeScriptConfig } from "./tsconfig.js";

/** The description of a prepared program in a tree, stored as JSON. All URLs are relative to its folder. */
export interface PortableProgram {
  /** The file names in the folder, by the keys of the modules. */
  readonly modules: Readonly<Record<string, string>>;
  /** The files from which the program was prepared: their URLs, sizes in bytes, and the digests of their chunks, joined. */
  readonly sources: readonly (readonly [url: string, size: number, digests: string])[];
  /** URLs at which nothing is. An import would find a file there first. */
  readonly absent: readonly string[];
  /** The URLs of all other modules that the program imports. */
  readonly imports: readonly string[];
  /** The URL of the TypeScript configuration; absent if the tree contains none. */
  readonly tsconfig?: string;
}

/** The name of the description in its folder. */
export const descriptionName = "program.json";

/**
 * Returns the path of the folder of a prepared program in the root of the tree that contains its registry. It does not depend on the
 * working directory, so that programs that run in different folders have the same tree.
 */
export function portableFolder(program: ProgramSource): string {
  const { tsx, identity, script, tsconfig = "" } = program;
  const key = [originOfModule(tsx), identity, tsconfig, version, statSync(script).size];
  return `.viceroy/typescript/${fnv1aText(key.join("\0"))}/`;
}

/**
 * Returns the URLs of the prepared modules of a program, by their keys, if the tree in which this process runs contains them.
 * @returns undefined if it does not, or if they do not fit
 */
export function portableModules(program: ProgramSource): Record<string, string> | undefined {
  const { roots } = program;
  const place = roots[0] === undefined ? undefined : placeOfModule(roots[0]);
  if (place === undefined || !place.to.startsWith("file:")) return undefined;
  const folder = new URL(portableFolder(program), place.to);
  const description = readDescription(folder);
  if (description === undefined) return undefined;
  const { modules, sources, absent } = description;
  if (!hasConfig(program, description.tsconfig && new URL(description.tsconfig, folder).href, place.to))
    return undefined;
  const stateOf = (url: string) => lstatSync(new URL(url, folder), { throwIfNoEntry: false });
  const isUnchanged = sources.every(([url, size]) => {
    const stats = stateOf(url);
    return stats !== undefined && stats.size === size && isAsWritten(stats);
  });
  if (!isUnchanged || absent.some((url) => stateOf(url) !== undefined)) return undefined;
  if (!arePrivate(fileURLToPath(folder), Object.values(modules))) return undefined;
  const placed = Object.entries(modules).map(([key, name]) => {
    const prefix = key.startsWith(requiredPrefix) ? requiredPrefix : "";
    return [prefix + new URL(key.slice(prefix.length), folder).href, new URL(name, folder).href] as const;
  });
  const urls = Object.fromEntries(placed);
  return roots.every((root) => root in urls) ? urls : undefined;
}

/**
 * Returns whether a program has a TypeScript configuration.
 * @param expected its URL; undefined for none
 * @param root the URL of the root of the tree, outside of which nothing belongs to the program
 */
function hasConfig({ tsconfig, folder }: ProgramSource, expected: string | undefined, root: string): boolean {
  const file = findTypeScriptConfig(tsconfig, folder);
  const url = file === undefined ? undefined : pathToFileURL(file).href;
  return expected === undefined ? !url?.startsWith(root) : url === expected;
}

/** Reads a description. @returns undefined if there is none that this version understands */
export function readDescription(folder: URL): PortableProgram | undefined {
  const text = readPrivateFile(fileURLToPath(new URL(descriptionName, folder)));
  try {
    return text === undefined ? undefined : (JSON.parse(text.toString()) as PortableProgram);
  } catch {
    return undefined;
  }
}
