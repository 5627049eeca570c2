/**
 * Hooks of Node.js's module loader for child processes of a program that runs with tsx. They return modules that tsx
 * has transformed before, without loading tsx and its compiler. tsx itself loads everything that is not known here: a
 * module that has not been transformed yet, and imports with special rules. Node.js runs this file in a thread of its
 * own.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type FoundModule, formatOf, resolveModule, typeScriptFile } from "./resolve-module.js";
import { TransformedModules } from "./transformed-modules.js";
import { readTypeScriptConfig, type TypeScriptConfig } from "./tsconfig.js";

/** The data that the thread of the program passes to this one. */
export interface HooksData {
  /** The URL of the hooks of tsx. */
  readonly tsxHooks: string;
  /** The URL of the package tsx, with a slash at its end. */
  readonly tsxFolder: string;
  /** The versions and options that decide how tsx transforms modules. */
  readonly identity: string;
  readonly tsconfig: string | undefined;
  readonly folder: string;
}

interface ResolveContext {
  parentURL?: string;
}
interface ResolveResult {
  readonly url: string;
  readonly format?: string | null;
  readonly shortCircuit?: boolean;
}
interface LoadContext {
  format?: string | null;
}
interface LoadResult {
  readonly format: string;
  readonly source?: string | ArrayBuffer | Uint8Array | null;
  readonly shortCircuit?: boolean;
}
type Resolve = (specifier: string, context?: ResolveContext) => Promise<ResolveResult>;
type Load = (url: string, context?: LoadContext) => Promise<LoadResult>;

/** The hooks of tsx. */
interface TsxHooks {
  initialize(data: unknown): unknown;
  resolve(specifier: string, context: ResolveContext, next: Resolve): Promise<ResolveResult>;
  load(url: string, context: LoadContext, next: Load): Promise<LoadResult>;
}

const dynamicImport = /\bimport\s*(?:\/\*|\()/;
const moduleSyntax = /^\s*(?:import|export)\b/m;

let data: HooksData;
let config: TypeScriptConfig | undefined;
let modules: TransformedModules;
let loading: Promise<TsxHooks> | undefined;

export function initialize(given: HooksData): void {
  data = given;
  config = readTypeScriptConfig(given.tsconfig, given.folder);
  modules = new TransformedModules(`${given.identity}\n${config?.identity}`);
}

/** Loads tsx into this thread. */
function tsx(): Promise<TsxHooks> {
  loading ??= import(data.tsxHooks).then((hooks: TsxHooks) => {
    hooks.initialize({ tsconfig: data.tsconfig });
    return hooks;
  });
  return loading;
}

/**
 * Has tsx examine a module that was loaded without it. tsx finds a CommonJS module in TypeScript by what its importer
 * imports from it.
 */
async function examine(importer: string | undefined): Promise<void> {
  if (importer === undefined || !isFile(importer) || !typeScriptFile.test(importer)) return;
  const source = readFileSync(fileURLToPath(importer));
  await (await tsx()).load(importer, { format: "module" }, async () => ({ format: "module", source }));
}

export async function resolve(specifier: string, context: ResolveContext, next: Resolve): Promise<ResolveResult> {
  if (specifier.startsWith("node:") || isPartOfTsx(context.parentURL)) return next(specifier, context);
  const found = config === undefined ? "unknown" : resolveModule(specifier, context.parentURL, config);
  const resolved = await (found === "default" ? resolveByNode(specifier, context, next) : found);
  if (resolved !== "unknown" && !isCommonJsTypeScript(resolved)) return { ...resolved, shortCircuit: true };
  const url = await (await tsx()).resolve(specifier, context, next);
  if (!isCommonJsTypeScript(url)) return url;
  await examine(context.parentURL);
  return (await tsx()).resolve(specifier, context, next);
}

/** Loading tsx into this thread uses these hooks, too, and must not wait for tsx. */
function isPartOfTsx(url: string | undefined): boolean {
  return url?.startsWith(data.tsxFolder) === true || url?.includes("/node_modules/esbuild/") === true;
}

async function resolveByNode(
  specifier: string,
  context: ResolveContext,
  next: Resolve,
): Promise<ResolveResult | FoundModule | "unknown"> {
  try {
    const result = await next(specifier, context);
    if (!isFile(result.url) || !typeScriptFile.test(result.url)) return result;
    const format = formatOf(fileURLToPath(result.url));
    return format === undefined ? "unknown" : { ...result, format };
  } catch {
    // tsx finds the module in another way, or reports the error.
    return "unknown";
  }
}

function isFile(url: string): boolean {
  return url.startsWith("file:") && !/[?#]/.test(url);
}

function isCommonJsTypeScript({ url, format }: ResolveResult): boolean {
  return format === "commonjs" && typeScriptFile.test(url.replace(/[?#].*$/, ""));
}

export async function load(url: string, context: LoadContext, next: Load): Promise<LoadResult> {
  if (!url.startsWith("file:") || isPartOfTsx(url)) return next(url, context);
  if (!isFile(url)) return (await tsx()).load(url, context, next);
  const { format } = context;
  if (typeScriptFile.test(url)) {
    return format === "module" ? loadTransformed(url, context, next) : (await tsx()).load(url, context, next);
  }
  if (url.endsWith(".json")) return loadTransformed(url, context, next);
  if (format === "module") return loadScript(url, context, next);
  if (format === "commonjs" && url.endsWith(".js") && moduleSyntax.test(readFileSync(fileURLToPath(url), "latin1")))
    return (await tsx()).load(url, context, next);
  return next(url, context);
}

/** tsx changes dynamic imports of JavaScript modules, and nothing else in them. */
async function loadScript(url: string, context: LoadContext, next: Load): Promise<LoadResult> {
  const source = readFileSync(fileURLToPath(url));
  if (dynamicImport.test(source.toString("latin1"))) return loadTransformed(url, context, next);
  return { format: "module", source, shortCircuit: true };
}

async function loadTransformed(url: string, context: LoadContext, next: Load): Promise<LoadResult> {
  const path = fileURLToPath(url);
  const source = readFileSync(path);
  let other: LoadResult | undefined;
  const module = await modules.get(path, source, async () => {
    const result = await (await tsx()).load(url, context, next);
    if (result.format === "module" && result.source) return Buffer.from(result.source as Uint8Array);
    other = result;
    return undefined;
  });
  return other ?? { format: "module", source: module!.toString(), shortCircuit: true };
}
