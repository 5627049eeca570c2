/**
 * How processes learn TypeScript. A program that runs through a loader hands it down with its options; but a program
 * can also have been transformed by something that its children know nothing of (a test runner), and worker threads of
 * Node.js 20 inherit no loader hooks. Then the children get tsx, if the program has it.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const typescriptFile = /\.[cm]?tsx?$/;
const loaderOption = /^(?:--import|--loader|--experimental-loader|--require|-r)(?:=|$)/;
/** Loaders of TypeScript, by what they are called in paths and specifiers. */
const knownLoaderName =
  /(?:^|[/@=\\-])(?:tsx|ts-node|swc-node|swc|esbuild-register|esbuild|jiti|sucrase|babel)(?:[/\\@.-]|$)/;

/** Whether any of these options brings in a module that teaches Node.js TypeScript. */
export function hasTypeScriptLoader(execArgv: readonly string[], nodeOptions = ""): boolean {
  const options = [...execArgv, ...nodeOptions.split(/\s+/)];
  return options.some((option, i) => {
    if (!loaderOption.test(option)) return false;
    const equals = option.indexOf("=");
    return knownLoaderName.test(equals === -1 ? (options[i + 1] ?? "") : option.slice(equals + 1));
  });
}

/**
 * The module that teaches a process TypeScript with its `register()`, if it takes one to load these registries.
 * @param urls the places of generated registries
 * @returns undefined if no registry is TypeScript, or the program has no tsx
 */
export function findTypeScriptLoader(urls: readonly string[]): string | undefined {
  const source = urls.find((url) => typescriptFile.test(url));
  if (source === undefined) return undefined;
  try {
    const manifest = createRequire(source).resolve("tsx/package.json");
    const { exports } = JSON.parse(readFileSync(manifest, "utf8")) as TsxManifest;
    const file = exports?.["./esm/api"]?.import?.default;
    return file === undefined ? undefined : pathToFileURL(join(dirname(manifest), file)).href;
  } catch {
    return undefined;
  }
}

/** What matters here of the package.json of tsx. */
interface TsxManifest {
  readonly exports?: { readonly "./esm/api"?: { readonly import?: { readonly default?: string } } };
}
