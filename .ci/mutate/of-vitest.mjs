/** Loads packages that the project's Vitest depends on, in the version that ordinary test runs use. */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(createRequire(import.meta.url).resolve("vitest/package.json"));

export const loadOfVitest = (name) => import(pathToFileURL(require.resolve(name)).href);
