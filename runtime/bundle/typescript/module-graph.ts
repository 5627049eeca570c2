/** Finds and transforms the modules of a program, starting at its registries. It runs in a process with tsx. */
import { readFileSync, statSync } from "node:fs";
import { isBuiltin } from "node:module";
import { sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { importCandidates } from "./import-candidates.js";
import { formatOf, isFile, manifestsOf, typeScriptFile } from "./module-format.js";
import { describeInput, type Input, requiredPrefix } from "./program.js";
import { type Import, listImports, listRequires } from "./rewrite-module.js";
import type { TypeScriptConfig } from "./tsconfig.js";

/** Thrown if tsx itself must load the program. */
export class CannotPrepare extends Error {}

/** A module of the program. */
export interface GraphModule {
  /** The key of the module: its URL, with {@link requiredPrefix} for an ES module that a CommonJS module requires. */
  readonly key: string;
  readonly url: string;
  readonly code: string;
  /** The URLs of its imports, by their specifiers. Imports that tsx must find at run time are absent. */
  readonly targets: ReadonlyMap<string, string>;
  /** The keys of the modules that it requires, by their specifiers; undefined for an ES module. */
  readonly required: ReadonlyMap<string, string> | undefined;
  /** Whether Node.js could load the source as it is, if it could do so with all modules that the source imports. */
  readonly isPlain: boolean;
}

/** The functions of tsx and Node.js that the graph uses. */
export interface Loader {
  /** Returns the URL that an import of a module names. Throws if there is none. */
  resolve(specifier: string, parent: string): string;
  /** Returns the file or the name of a built-in module that a CommonJS module requires. Throws if there is none. */
  resolveRequired(specifier: string, parent: string): string;
  /** Returns the source of a module as an ES module in JavaScript. */
  transform(url: string, source: Buffer): Promise<string>;
  /** Returns the source of a module as a CommonJS module in JavaScript. */
  transformCommonJs(url: string, source: Buffer): Promise<string>;
}

const moduleSyntax = /^\s*(?:import|export)\b/m;
/** The folder of the built files of Viceroy. */
const ownFolder = new URL("..", import.meta.url).href;

export class ModuleGraph {
  readonly modules = new Map<string, GraphModule>();
  readonly config: TypeScriptConfig;
  readonly #inputs = new Map<string, Input>();
  readonly #contents = new Map<string, Buffer>();
  readonly #absent = new Set<string>();
  readonly #loader: Loader;

  constructor(loader: Loader, config: TypeScriptConfig) {
    this.#loader = loader;
    this.config = config;
    for (const file of config.files) this.#read(file);
    for (const file of config.absent) this.#absent.add(file);
  }

  /** The files that have been read so far. */
  get inputs(): Input[] {
    return [...this.#inputs.values()];
  }

  /** The contents of the files that have been read so far, by their paths. */
  get contents(): ReadonlyMap<string, Buffer> {
    return this.#contents;
  }

  get absent(): string[] {
    return [...this.#absent];
  }

  /**
   * Adds a module and everything that it imports.
   * @throws CannotPrepare if tsx itself must load the program
   */
  async add(root: string): Promise<void> {
    const waiting = [root];
    for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
      if (this.modules.has(key)) continue;
      const url = key.replace(requiredPrefix, "");
      const isCommonJs = key !== url || formatOf(fileURLToPath(url)) === "commonjs";
      const module = await (isCommonJs ? this.#loadCommonJs(key, url) : this.#load(url));
      this.modules.set(key, module);
      for (const target of module.targets.values()) if (this.#isOwn(target)) waiting.push(target);
      waiting.push(...(module.required?.values() ?? []));
    }
  }

  /** Returns the modules that Node.js cannot load as they are. All others keep their URLs. */
  prepared(): GraphModule[] {
    const changed = new Set([...this.modules.values()].filter(({ isPlain }) => !isPlain));
    for (let size = -1; size !== changed.size; ) {
      size = changed.size;
      for (const module of this.modules.values()) {
        const keys = [...module.targets.values(), ...(module.required?.values() ?? [])];
        const targets = keys.map((key) => this.modules.get(key));
        if (targets.some((target) => target !== undefined && changed.has(target))) changed.add(module);
      }
    }
    return [...changed];
  }

  async #load(url: string): Promise<GraphModule> {
    const path = fileURLToPath(url);
    const isScript = !typeScriptFile.test(path) && formatOf(path) === "module";
    const code = await this.#transform(url, (source) => this.#loader.transform(url, source));
    const targets = new Map<string, string>();
    let isPlain = isScript && !this.config.allowJs;
    for (const imported of listImports(code, url)) {
      const target = this.#find(imported, url, path);
      const { specifier } = imported;
      if (specifier !== undefined && target !== undefined) targets.set(specifier, target);
      isPlain &&= target !== undefined && isPlainImport(specifier!, url, target);
    }
    return { key: url, url, code, targets, required: undefined, isPlain };
  }

  async #loadCommonJs(key: string, url: string): Promise<GraphModule> {
    const path = fileURLToPath(url);
    const code = await this.#transform(url, (source) => this.#loader.transformCommonJs(url, source));
    const targets = new Map<string, string>();
    for (const imported of listImports(code, url)) {
      const target = this.#find(imported, url, path);
      if (target !== undefined) targets.set(imported.specifier!, target);
    }
    const required = new Map<string, string>();
    for (const specifier of listRequires(code)) {
      const target = this.#findRequired(specifier, path);
      if (target !== undefined) required.set(specifier, target);
    }
    return { key, url, code, targets, required, isPlain: false };
  }

  async #transform(url: string, transform: (source: Buffer) => Promise<string>): Promise<string> {
    const path = fileURLToPath(url);
    for (const manifest of manifestsOf(path)) this.#note(manifest);
    const source = this.#read(path);
    try {
      return await transform(source);
    } catch (error) {
      throw new CannotPrepare(String(error));
    }
  }

  /** Returns the target of an import; undefined if tsx must find it at run time. */
  #find({ specifier, isDynamic, hasAttributes }: Import, url: string, path: string): string | undefined {
    if (specifier === undefined) return undefined;
    if (isBuiltin(specifier)) return specifier;
    for (const candidate of importCandidates(specifier, path, this.config)) this.#note(candidate);
    const found = this.#resolve(specifier, url);
    if (found?.startsWith("file:")) for (const manifest of manifestsOf(fileURLToPath(found))) this.#note(manifest);
    const target = found !== undefined && isLoadable(found, hasAttributes) ? found : undefined;
    if (target === undefined && !isDynamic) throw new CannotPrepare(`${path} imports ${specifier}`);
    return target;
  }

  /** Returns the key of a module that Node.js cannot require as it is; undefined for all others. */
  #findRequired(specifier: string, path: string): string | undefined {
    if (isBuiltin(specifier)) return undefined;
    for (const candidate of importCandidates(specifier, path, this.config)) this.#note(candidate);
    let found: string;
    try {
      found = this.#loader.resolveRequired(specifier, path);
    } catch {
      return undefined;
    }
    for (const manifest of manifestsOf(found)) this.#note(manifest);
    const url = pathToFileURL(found).href;
    const format = formatOf(found);
    if (format === "module") return requiredPrefix + url;
    if (typeScriptFile.test(found)) return url;
    return isModuleByContent(found) ? requiredPrefix + url : undefined;
  }

  #resolve(specifier: string, url: string): string | undefined {
    try {
      return this.#loader.resolve(specifier, url);
    } catch {
      return undefined;
    }
  }

  /** Returns whether a target is a module of the program. Dependencies in JavaScript are loaded by Node.js. */
  #isOwn(url: string): boolean {
    if (!url.startsWith("file:") || url.startsWith(ownFolder)) return false;
    const path = fileURLToPath(url);
    if (typeScriptFile.test(path)) return true;
    if (path.includes(`${sep}node_modules${sep}`)) return false;
    return path.endsWith(".json") || formatOf(path) === "module";
  }

  /** Notes that a path decides what an import finds. */
  #note(path: string): void {
    if (!isFile(path)) this.#absent.add(path);
    else if (path.endsWith("package.json")) this.#read(path);
  }

  #read(path: string): Buffer {
    const status = statSync(path);
    const content = readFileSync(path);
    if (!this.#inputs.has(path)) {
      this.#inputs.set(path, describeInput(path, status, content));
      this.#contents.set(path, content);
    }
    return content;
  }
}

/** Returns whether Node.js finds the same module. */
function isPlainImport(specifier: string, url: string, target: string): boolean {
  if (/^(?:\.\.?\/|\/|file:)/.test(specifier)) return new URL(specifier, url).href === target;
  const isOfPackage = target.includes("/node_modules/") || target.startsWith(ownFolder);
  return isOfPackage || isBuiltin(specifier) || specifier.startsWith("#");
}

/** Returns whether a prepared module can import this URL. */
function isLoadable(url: string, hasAttributes: boolean): boolean {
  if (!url.startsWith("file:")) return true;
  const isPlain = !/[?#]/.test(url);
  const path = fileURLToPath(url.replace(/[?#].*$/, ""));
  if (!isFile(path)) return false;
  const format = formatOf(path);
  if (typeScriptFile.test(path)) return isPlain;
  if (format === "json") return isPlain || hasAttributes;
  return !isModuleByContent(path);
}

/** Returns whether a file is an ES module although its package says otherwise. tsx loads these, too. */
function isModuleByContent(path: string): boolean {
  return path.endsWith(".js") && formatOf(path) === "commonjs" && moduleSyntax.test(readFileSync(path, "latin1"));
}
