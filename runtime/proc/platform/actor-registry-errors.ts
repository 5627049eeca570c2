/** The errors of classes of actors that cannot be found or loaded. */
import { hostname } from "node:os";
import { pathToFileURL } from "node:url";
import type { ActorClass } from "../../actor/reference/actor-request.js";

export const compileHint = "run `npx viceroy compile`";

/** The error of a program of one file whose processes have registered fewer actors than the program itself. */
export function missingImportError(id: string, urls: readonly string[]): Error {
  const what = id.startsWith("viceroy/") ? 'import "viceroy/tensor"' : "import the generated registry of its package";
  return new Error(
    `cannot load ${id}: processes of a program of one file know only what the module that calls runProgram imports; ${what} ` +
      `there, got ${urls.join(" and ")}`,
  );
}

export function notRegisteredError(actorClass: ActorClass, registries: readonly string[]): Error {
  const loaded = registries.length === 0 ? "no registry" : registries.join(" and ");
  return new Error(
    `cannot spawn ${actorClass.name}: not registered; export it from a module that viceroy.config.ts names under ` +
      `"actors", ${compileHint} and import the generated registry; a bundled program must be bundled again, got ${loaded}`,
  );
}

/**
 * The message of Node.js about a package that is not there. If the folder of the package has no package.json, the message
 * contains the path of the folder.
 */
const missingPackage =
  /^Cannot find package '(?:[^']*\/node_modules\/)?((?:@[^/']+\/)?[^/']+)[^']*'(?: imported from (.+))?$/;

/** Returns an error with advice if a package of actors is not installed here, and the same error otherwise. */
export function explainMissingPackage(
  error: unknown,
  { id, registry }: { readonly id: string; readonly registry: string },
): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  const found = code === "ERR_MODULE_NOT_FOUND" ? missingPackage.exec(message) : null;
  if (found === null) return error;
  const [, name, importer] = found;
  const where =
    importer === undefined ? registry : importer.startsWith("file:") ? importer : pathToFileURL(importer).href;
  return new Error(
    `cannot load ${id}: the package ${name} is not installed on ${hostname()} for ${where}; install it there, in the ` +
      `version that the program uses`,
    { cause: error },
  );
}

export function stillLoadingError(actorClass: ActorClass, id: string): Error {
  return new Error(
    `cannot spawn ${actorClass.name}: its module is still being loaded; a module cannot spawn the actors that it ` +
      `exports while it is evaluated: move the class to a module of its own, got ${id.slice(0, id.lastIndexOf("#"))}`,
  );
}
