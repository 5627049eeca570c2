/** Checks of the options of a sync, before anything is read. */
import { checkOptionNames } from "../shape/check-options.js";
import type { SyncOptions } from "./kernel.js";

const optionNames = [
  "roots",
  "exclude",
  "include",
  "packages",
  "largeRoots",
  "limits",
  "quota",
  "onProgress",
] as const satisfies readonly (keyof SyncOptions)[];

/** @throws TypeError, RangeError if an option is malformed */
export function checkSyncOptions(options: SyncOptions): void {
  checkOptionNames("cannot sync code", options, optionNames);
  for (const name of ["roots", "exclude", "include", "largeRoots"] as const) {
    const value: unknown = options[name];
    if (value === undefined) continue;
    const isList = Array.isArray(value) && value.every((text) => typeof text === "string" && text !== "");
    if (!isList || (name === "roots" && value.length === 0)) throw refused(`${name} as a list of paths`, value);
  }
  const { limits = {}, quota, packages = true } = options;
  if (typeof packages !== "boolean" && packages !== "install")
    throw refused('packages as true, false or "install"', packages);
  checkOptionNames("cannot sync code with limits", limits, ["files", "bytes"]);
  for (const [name, value] of Object.entries({ quota, "limits.files": limits.files, "limits.bytes": limits.bytes })) {
    if (value !== undefined && !(Number.isFinite(value) && value > 0)) {
      throw new RangeError(`cannot sync code: expected ${name} above 0, got ${String(value)}`);
    }
  }
}

function refused(expected: string, value: unknown): TypeError {
  return new TypeError(`cannot sync code: expected ${expected}, got ${JSON.stringify(value)}`);
}
