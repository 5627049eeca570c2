/** Operations that need a newer version of libtorch than the oldest supported one. */

import { newerFunctions } from "../generated/ops.js";
import { addon } from "./addon.js";

/** The first version of libtorch with each operation, by its qualified name. */
const introducedIn: ReadonlyMap<string, string> = new Map(
  newerFunctions.flatMap(([version, names]) => names.split(" ").map((name) => [`aten::${name}`, version] as const)),
);

/** @throws {TypeError} when the loaded libtorch is too old for the operation */
export function requireLibtorchVersion(name: string): void {
  const since = introducedIn.get(name);
  if (since === undefined || addon().missingOperations([name]).length === 0) return;
  throw new TypeError(
    `cannot call ${name.slice("aten::".length)}: it exists since libtorch ${since}, got libtorch ${addon().versions().torch}; ` +
      "install a newer one, then run `npx viceroy setup --tensor` again",
  );
}
