/** Packages that the project's Vitest brings: in the version that ordinary runs of the tests use. */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(createRequire(import.meta.url).resolve("vitest/package.json"));

export const loadOfVitest = (name) => import(pathToFileURL(require.resolve(name)).href);
