/**
 * What a process with a runtime environment loads first, by NODE_OPTIONS: it moves to its working directory, and has
 * imports find the packages of the environment.
 */
import * as nodeModule from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isMainThread } from "node:worker_threads";
import { OwnPackages } from "./own-packages.js";
import { packagesVariable, workingDirectoryVariable } from "./variables.js";

/** The part of Node.js's CommonJS loader that says which file a name is. */
interface CommonJsLoader {
  _resolveFilename(request: string, parent: { readonly filename?: string } | undefined, ...rest: unknown[]): string;
}

type Resolve = (specifier: string, context: { readonly parentURL?: string }) => unknown;

/** Newer versions of Node.js than the declared ones resolve without a thread of their own. */
interface SyncHooks {
  registerHooks?(hooks: {
    resolve(specifier: string, context: { readonly parentURL?: string }, next: Resolve): unknown;
  }): void;
}

const directory = process.env[workingDirectoryVariable];
if (directory !== undefined && isMainThread) {
  delete process.env[workingDirectoryVariable];
  process.chdir(directory);
}
const folder = process.env[packagesVariable];
if (folder !== undefined) usePackages(folder);

function usePackages(folder: string): void {
  const own = new OwnPackages(folder);
  const loader = nodeModule.Module as unknown as CommonJsLoader;
  const find = loader._resolveFilename;
  const importer = new nodeModule.Module(own.importer) as unknown as { filename: string; paths: string[] };
  importer.filename = own.importer;
  importer.paths = [join(folder, "node_modules")];
  loader._resolveFilename = function (this: unknown, request, parent, ...rest) {
    return find.call(this, request, own.has(request, parent?.filename) ? importer : parent, ...rest);
  };
  const url = pathToFileURL(own.importer).href;
  const { registerHooks } = nodeModule as unknown as SyncHooks;
  if (registerHooks === undefined) {
    nodeModule.register(pathToFileURL(join(__dirname, "tasks-packages-hooks.mjs")), { data: folder });
    return;
  }
  registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier, own.has(specifier, context.parentURL) ? { ...context, parentURL: url } : context),
  });
}
