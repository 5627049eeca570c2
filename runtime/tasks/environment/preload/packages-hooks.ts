/** Has `import` find the packages of a runtime environment, in versions of Node.js whose hooks run in a thread of their own. */
import type { InitializeHook, ResolveHook } from "node:module";
import { pathToFileURL } from "node:url";
import { OwnPackages } from "./own-packages.js";

let own: OwnPackages;
let url: string;

export const initialize: InitializeHook<string> = (folder) => {
  own = new OwnPackages(folder);
  url = pathToFileURL(own.importer).href;
};

export const resolve: ResolveHook = (specifier, context, next) =>
  next(specifier, own.has(specifier, context.parentURL) ? { ...context, parentURL: url } : context);
