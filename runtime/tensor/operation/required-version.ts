/** Operations that came with a version of libtorch newer than the oldest that is supported: an older one lacks them, and calling one says so. */

import { newerFunctions } from "../generated/ops.js";
import { addon } from "./addon.js";

/** The version that each came with, by its name with namespace. */
const introducedIn: ReadonlyMap<string, string> = new Map(
  newerFunctions.flatMap(([version, names]) => names.split(" ").map((name) => [`aten::${name}`, version] as const)),
);

/** @throws TypeError if the libtorch that is loaded is too old for an operation */
export function requireLibtorchVersion(name: string): void {
  const since = introducedIn.get(name);
  if (since === undefined || addon().missingOperations([name]).length === 0) return;
  throw new TypeError(
    `cannot call ${name.slice("aten::".length)}: it exists since libtorch ${since}, got libtorch ${addon().versions().torch}; ` +
      "install a newer one, then run `npx viceroy setup --tensor` again",
  );
}
