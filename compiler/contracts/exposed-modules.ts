/**
 * Tells which generated modules of another package a module of that package exports, and by which specifier generated
 * code imports them.
 */
import path from "node:path";
import { importCandidates } from "../actors/import-candidates.js";
import type { ModuleOutline } from "../actors/module-outline.js";
import type { ContractModule } from "./contract.js";
import { ContractError } from "./contract.js";
import type { ContractStore, InstalledContract } from "./contract-store.js";

export type ReadOutline = (path: string, text: string) => ModuleOutline;

export class ExposedModules {
  readonly #store: ContractStore;
  readonly #outline: ReadOutline;

  constructor(store: ContractStore, outline: ReadOutline) {
    this.#store = store;
    this.#outline = outline;
  }

  /** Returns the modules whose values a file exports, all of them: it declares them, or re-exports the module. */
  in(file: string, { modules }: InstalledContract): readonly ContractModule[] {
    return modules.filter((module) => module.exports.length > 0 && this.#exposes(file, module, new Set()));
  }

  #exposes(file: string, module: ContractModule, seen: Set<string>): boolean {
    const text = this.#store.read(file);
    if (text === undefined || seen.has(file)) return false;
    seen.add(file);
    if (module.exports.every((name) => new RegExp(`\\b${name}\\b`).test(text))) return true;
    const outline = this.#outline(file, text);
    return outline.reexports.some(({ exported, from }) => {
      const target = exported === "*" ? this.#follow(file, from) : undefined;
      return target !== undefined && this.#exposes(target, module, seen);
    });
  }

  #follow(file: string, from: string): string | undefined {
    if (/^\.\.?(\/|$)/.test(from)) {
      return importCandidates(file, from).find((candidate) => this.#store.read(candidate) !== undefined);
    }
    try {
      return this.#store.resolve(file, from);
    } catch (error) {
      if (error instanceof ContractError) return undefined;
      throw error;
    }
  }

  /**
   * Returns the specifier by which the package of the config imports a module, or undefined if it cannot: the package
   * is not one of its dependencies, or does not export the module.
   *
   * @param used the specifiers in the schemas of the package of the config, which are preferred
   */
  specifierOf(module: ContractModule, contract: InstalledContract, used: readonly string[]): string | undefined {
    const importer = path.join(this.#store.root, "package.json");
    return [...used, ...this.#exported(module, contract)].find((specifier) => {
      try {
        const file = this.#store.resolve(importer, specifier);
        return this.#store.packageFolder(file) === contract.folder && this.in(file, contract).includes(module);
      } catch (error) {
        if (error instanceof ContractError) return false;
        throw error;
      }
    });
  }

  /** Returns the specifiers that package.json allows. A pattern is tried with the likely names of the module. */
  #exported({ output }: ContractModule, { folder, package: name, out }: InstalledContract): readonly string[] {
    const stem = output.replace(/\.[cm]?tsx?$/, "");
    const paths = [stem, `${stem}.js`, `${out}/${stem}`, `${out}/${stem}.js`];
    const exported = this.#store.manifest(folder)?.exports;
    if (exported === undefined) return [name, ...paths.map((file) => `${name}/${file}`)];
    if (typeof exported !== "object" || exported === null) return [name];
    const keys = Object.keys(exported).filter((key) => key.startsWith("."));
    if (keys.length === 0) return [name];
    const all = keys.flatMap((key) => (key.includes("*") ? paths.map((file) => key.replace("*", file)) : [key]));
    return all.map((key) => path.posix.join(name, key));
  }
}
