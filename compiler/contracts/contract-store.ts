/** Finds the contracts of other packages on disk, and reads each once. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import type { ResolveModule } from "../source/index.js";
import { type Contract, ContractError, contractFile, parseContract } from "./contract.js";

/** The contract of an installed package. */
export interface InstalledContract extends Contract {
  /** The absolute path of the folder of the package, with links resolved. */
  readonly folder: string;
  /** The absolute path of `contract.json`. */
  readonly file: string;
}

export interface ContractStoreOptions {
  /** The absolute path of the folder of the config. */
  readonly root: string;
  /** Opens the resolver of imports, which reports the places at which it did not find a package. */
  readonly openResolver: (onMissing: (path: string) => void) => ResolveModule;
  /** The version of this compiler. */
  readonly version: string;
  /** The names that a config file can have. */
  readonly configNames: readonly string[];
  /** Returns the text of a file, or undefined if there is none. Default: reads the disk. */
  readonly readText?: (file: string) => string | undefined;
}

/** The part of package.json that matters here. */
export interface PackageManifest {
  readonly name: string;
  readonly exports?: unknown;
  readonly viceroy?: { readonly contract?: unknown };
}

export class ContractStore {
  readonly root: string;
  readonly #resolve: ResolveModule;
  readonly #version: string;
  readonly #configNames: readonly string[];
  readonly #readText: (file: string) => string | undefined;
  readonly #own: string | undefined;
  readonly #contracts = new Map<string, InstalledContract | ContractError>();
  readonly #texts = new Map<string, string | undefined>();

  constructor({ root, openResolver, version, configNames, readText = textOnDisk }: ContractStoreOptions) {
    this.#readText = readText;
    this.root = root;
    this.#resolve = openResolver((missing) => {
      // The resolver also misses files at the paths of folders, and the other way round.
      if (!existsSync(missing)) this.#texts.set(missing, undefined);
    });
    this.#version = version;
    this.#configNames = configNames;
    this.#own = this.packageFolder(path.join(root, "package.json"));
  }

  /**
   * The texts of the files of other packages that were read, by absolute path. The text is undefined for a file or folder
   * that was searched and is missing.
   */
  get texts(): ReadonlyMap<string, string | undefined> {
    return this.#texts;
  }

  /** The contracts that were read. */
  get contracts(): readonly InstalledContract[] {
    return [...this.#contracts.values()].flatMap((found) => (found instanceof ContractError ? [] : [found]));
  }

  /** Returns the text of a file, or undefined if there is none. */
  read(file: string): string | undefined {
    if (!this.#texts.has(file)) this.#texts.set(file, this.#readText(file));
    return this.#texts.get(file);
  }

  /**
   * Returns the file to which an import of a package resolves.
   *
   * @param importer the absolute path of the importing file
   * @throws ContractError if the package is not installed or does not export the module
   */
  resolve(importer: string, specifier: string): string {
    const found = this.#resolve(importer, specifier);
    // The import of JavaScript without its declarations finds classes that declarations hide in intermediate variables.
    if (found !== undefined) return found.replace(/\.d(\.[cm]?)ts$/, (end, dot) => this.#script(found, end, dot));
    const name = packageOf(specifier);
    const folder = this.#installed(path.dirname(importer), name);
    if (folder === undefined) {
      throw new ContractError(
        `the package ${name} is not installed for ${this.packageName(importer) ?? path.dirname(importer)}`,
        `Add ${name} to the dependencies there, and install them.`,
      );
    }
    throw new ContractError(
      `the package ${name} is installed, but "${specifier}" is no file of it`,
      `Build ${name}, or add the module to "exports" of its package.json.`,
    );
  }

  #script(file: string, end: string, dot: string): string {
    return existsSync(`${file.slice(0, -end.length)}${dot}js`) ? `${dot}js` : end;
  }

  /**
   * Returns the contract of the package that contains a file, or undefined if the file belongs to the package of the
   * config, or to a package without schemas.
   *
   * @throws ContractError if the package has schemas and was not compiled, or its contract cannot be read
   */
  contractOf(file: string): InstalledContract | undefined {
    const folder = this.packageFolder(file);
    if (folder === undefined || folder === this.#own) return undefined;
    const known = this.#contracts.get(folder);
    if (known !== undefined && !(known instanceof ContractError)) return known;
    if (known !== undefined) throw known;
    try {
      const found = this.#load(folder, file);
      if (found !== undefined) this.#contracts.set(folder, found);
      return found;
    } catch (error) {
      if (error instanceof ContractError) this.#contracts.set(folder, error);
      throw error;
    }
  }

  /**
   * Returns whether a package whose contract was read contains a generated file.
   *
   * @param file the path relative to the output folder of the package
   */
  hasGenerated(name: string, file: string): boolean {
    return this.contracts.some((contract) => {
      return contract.package === name && this.read(path.join(path.dirname(contract.file), file)) !== undefined;
    });
  }

  #load(folder: string, from: string): InstalledContract | undefined {
    const { name, viceroy } = this.manifest(folder) as PackageManifest;
    const at = this.#locate(folder, from, viceroy?.contract);
    const text = at === undefined ? undefined : this.read(at);
    if (at === undefined || text === undefined) {
      const config = this.#configNames.find((candidate) => existsSync(path.join(folder, candidate)));
      if (config === undefined && at === undefined) return undefined;
      throw new ContractError(
        `the package ${name} has no contract${at === undefined ? "" : `: there is no ${path.relative(folder, at)}`}`,
        `Add "contract" to "emit" in the config of ${name}, and run \`npx viceroy compile\` there.`,
      );
    }
    const contract = parseContract(text, name, this.#version);
    if (contract.package !== name) {
      throw new ContractError(
        `the contract of ${name} was compiled for ${contract.package}`,
        `Run \`npx viceroy compile\` in ${name}.`,
      );
    }
    const config = path.dirname(at).slice(0, -contract.out.length);
    for (const module of contract.modules) {
      const now = this.read(path.join(config, module.path));
      if (now === undefined || now === module.text) continue;
      throw new ContractError(
        `the contract of ${name} is older than its ${module.path}`,
        `Run \`npx viceroy compile\` in ${name}.`,
      );
    }
    return { ...contract, folder, file: at };
  }

  /** Returns the path of the contract, which does not exist if package.json names it and it is missing. */
  #locate(folder: string, from: string, named: unknown): string | undefined {
    if (typeof named === "string") return path.join(folder, named);
    if (named !== undefined) {
      throw new ContractError(
        `the package.json of ${this.manifest(folder)?.name} has no path in "viceroy.contract", got ${JSON.stringify(named)}`,
        `Write the path of ${contractFile} in the package: "viceroy": { "contract": "./generated/${contractFile}" }.`,
      );
    }
    for (let at = path.dirname(from); at.startsWith(folder); at = path.dirname(at)) {
      const file = path.join(at, contractFile);
      if (this.read(file) !== undefined) return file;
    }
    const byDefault = path.join(folder, "generated", contractFile);
    return this.read(byDefault) === undefined ? undefined : byDefault;
  }

  /** Returns the folder of the package that contains a file. A package.json without a name belongs to no package. */
  packageFolder(file: string): string | undefined {
    for (let at = path.dirname(file); ; at = path.dirname(at)) {
      if (this.manifest(at) !== undefined) return at;
      if (at === path.dirname(at)) return undefined;
    }
  }

  packageName(file: string): string | undefined {
    const folder = this.packageFolder(file);
    return folder === undefined ? undefined : this.manifest(folder)?.name;
  }

  manifest(folder: string): PackageManifest | undefined {
    const text = this.read(path.join(folder, "package.json"));
    if (text === undefined) return undefined;
    try {
      const value = JSON.parse(text) as PackageManifest;
      return typeof value.name === "string" ? value : undefined;
    } catch {
      return undefined;
    }
  }

  #installed(from: string, name: string): string | undefined {
    for (let at = from; ; at = path.dirname(at)) {
      const folder = path.join(at, "node_modules", name);
      if (existsSync(folder)) return folder;
      if (at === path.dirname(at)) return undefined;
    }
  }
}

/** Returns the name of the package in a specifier: `@acme/counters/fast` -> `@acme/counters`. */
export function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

/** Returns whether a specifier names a package: it is neither a path nor a module of Node.js. */
export function isPackage(specifier: string): boolean {
  return !/^[./#]|^node:/.test(specifier);
}

function textOnDisk(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}
