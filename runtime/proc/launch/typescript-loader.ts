/**
 * Makes child processes understand TypeScript. A program that runs through a loader passes the loader on with its
 * options. But a program can also be transformed by a tool that its children know nothing about (a test runner), and
 * worker threads of Node.js 20 inherit no loader hooks. The children then use tsx, if the program has it.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const typescriptFile = /\.[cm]?tsx?$/;
const loaderOption = /^(?:--import|--loader|--experimental-loader|--require|-r)(?:=|$)/;
/** Matches the names of TypeScript loaders in paths and specifiers. */
const knownLoaderName =
  /(?:^|[/@=\\-])(?:tsx|ts-node|swc-node|swc|esbuild-register|esbuild|jiti|sucrase|babel)(?:[/\\@.-]|$)/;

/** Returns whether one of these options loads a module that makes Node.js understand TypeScript. */
export function hasTypeScriptLoader(execArgv: readonly string[], nodeOptions = ""): boolean {
  const options = [...execArgv, ...nodeOptions.split(/\s+/)];
  return options.some((option, i) => {
    if (!loaderOption.test(option)) return false;
    const equals = option.indexOf("=");
    const module = equals === -1 ? (options[i + 1] ?? "") : option.slice(equals + 1);
    // Folders above the package may have any name.
    return knownLoaderName.test(module.replace(/^.*[\\/]node_modules[\\/]/, ""));
  });
}

/**
 * Returns the URL of the module whose `register()` makes a process understand TypeScript, if the process needs it to
 * load these registries.
 * @param urls the URLs of generated registries
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

/** The part of tsx's `package.json` that is used here. */
interface TsxManifest {
  readonly exports?: { readonly "./esm/api"?: { readonly import?: { readonly default?: string } } };
}
