/**
 * Collects the schemas of other packages that the schemas of a project import, directly or through others. Their texts
 * come from the contracts and are read like the project's own; their ids come from the locks in the contracts.
 */
import path from "node:path";
import { assignIds, type Lock, parseLock, printLock } from "../lock/index.js";
import { importedPath, importedRoot, packageOfPath } from "../model/imported-path.js";
import { fingerprint, type ImportedModule, indexSchema, type Module, type Schema } from "../model/index.js";
import type { PackageImport, RefusedImport, SourceText } from "../source/index.js";
import { ContractError } from "./contract.js";
import { type ContractStore, type InstalledContract, isPackage } from "./contract-store.js";
import { ExposedModules, type ReadOutline } from "./exposed-modules.js";

/** The modules of a project, and those of other packages. */
export interface SeparatedSchema {
  readonly own: Schema;
  readonly imported: readonly ImportedModule[];
  /** The locks of the other packages, by package. */
  readonly importedLocks: ReadonlyMap<string, Lock>;
}

export class ImportedSchemas {
  /** The schema files of other packages, at the paths `node_modules/<package>/<path>`. */
  readonly texts: SourceText[] = [];
  /** The meaning of each import of a package in a schema file. */
  readonly imports: PackageImport[] = [];
  /** The imports of the project's own schemas that cannot be used, by specifier. */
  readonly refused = new Map<string, RefusedImport>();
  readonly #store: ContractStore;
  readonly #outline: ReadOutline;
  readonly #exposed: ExposedModules;
  readonly #contracts = new Map<string, InstalledContract>();
  readonly #locks = new Map<string, Lock>();
  readonly #used: string[] = [];

  /** @param own the schema files of the project */
  constructor(own: readonly SourceText[], store: ContractStore, outline: ReadOutline) {
    this.#store = store;
    this.#outline = outline;
    this.#exposed = new ExposedModules(store, outline);
    this.#collect(own, "", path.join(store.root, "package.json"));
  }

  /** @param importer a file from whose folder the packages are found */
  #collect(texts: readonly SourceText[], owner: string, importer: string): void {
    for (const specifier of new Set(texts.flatMap((text) => this.#packagesIn(text)))) {
      try {
        this.#add(specifier, owner, importer);
      } catch (error) {
        if (!(error instanceof ContractError)) throw error;
        if (owner !== "") {
          throw new ContractError(
            `the schemas of ${owner} import from "${specifier}", and ${error.message}`,
            error.hint,
          );
        }
        this.refused.set(specifier, { why: error.message, hint: error.hint });
      }
    }
  }

  #packagesIn({ path: file, text }: SourceText): readonly string[] {
    const { imports, reexports } = this.#outline(file, text);
    return [...imports, ...reexports]
      .map(({ from }) => from)
      .filter((from) => isPackage(from) && from !== "viceroy/schema");
  }

  #add(specifier: string, owner: string, importer: string): void {
    const file = this.#store.resolve(importer, specifier);
    const contract = this.#store.contractOf(file);
    if (contract === undefined) {
      throw new ContractError(
        `${this.#store.packageName(file) ?? specifier} has no contract, so its types are unknown`,
        "Schema files can import types of packages whose schemas Viceroy has compiled. Declare the type in a schema file.",
      );
    }
    const { package: name, folder } = contract;
    const other = this.#contracts.get(name);
    if (other !== undefined && other.folder !== folder) {
      throw new ContractError(
        `two versions of ${name} are installed, at ${other.folder} and ${folder}`,
        "Install one version for all packages that use it.",
      );
    }
    const modules = this.#exposed.in(file, contract);
    if (modules.length === 0) {
      throw new ContractError(
        `"${specifier}" exports no generated module of ${name} as a whole`,
        `Write \`export * from "./${contract.out}/…"\` in that module of ${name}, or import the generated module.`,
      );
    }
    if (owner === "") this.#used.push(specifier);
    this.imports.push({ owner, specifier, files: modules.map((module) => importedPath(name, module.path)) });
    if (other !== undefined) return;
    this.#contracts.set(name, contract);
    const texts = contract.modules.map((module) => ({ path: importedPath(name, module.path), text: module.text }));
    this.texts.push(...texts);
    this.#collect(texts, name, contract.file);
  }

  /**
   * Separates the schema into that of the project and the imported modules, which get the ids of their own locks.
   *
   * @returns the schema of the project without ids, and the imported modules with the locks of their packages
   * @throws ContractError if this version of Viceroy reads a contract differently than the version that wrote it
   */
  separate(read: Schema): SeparatedSchema {
    const isOwn = ({ path: file }: Module) => !file.startsWith(importedRoot);
    const own = { ...read, modules: read.modules.filter(isOwn) };
    if (this.#contracts.size === 0) return { own, imported: [], importedLocks: this.#locks };
    const imported = [...this.#contracts.values()].flatMap((contract) => this.#numbered(contract, read));
    const index = indexSchema({ ...own, modules: [], imported });
    const fingerprints = fingerprint(index);
    for (const module of imported) {
      const contract = this.#contracts.get(module.package) as InstalledContract;
      const written = contract.modules.find(({ path: file }) => importedPath(module.package, file) === module.path);
      if (BigInt(`0x${written?.fingerprint}`) === fingerprints.module(module)) continue;
      throw outdated(contract, `its ${written?.path} has another fingerprint now`);
    }
    return { own, imported, importedLocks: this.#locks };
  }

  #numbered(contract: InstalledContract, read: Schema): readonly ImportedModule[] {
    const { package: name, protoPackage } = contract;
    const modules = read.modules.filter(({ path: file }) => packageOfPath(file) === name);
    const { lock, problems: unreadable } = parseLock("viceroy.lock", contract.lock);
    // The lock names modules by their paths in their own package.
    const strip = (module: Module): Module => ({ ...module, path: module.path.slice(importedPath(name, "").length) });
    const assigned = assignIds({ package: name, modules: modules.map(strip) }, lock);
    if (unreadable.length > 0 || assigned.problems.length > 0 || printLock(assigned.lock) !== contract.lock) {
      throw outdated(contract, "its lock does not match its schemas");
    }
    this.#locks.set(name, lock);
    return assigned.schema.modules.map((module): ImportedModule => {
      const file = contract.modules.find(({ path: own }) => own === module.path);
      const specifier = file && this.#exposed.specifierOf(file, contract, this.#used);
      return {
        ...module,
        path: importedPath(name, module.path),
        package: name,
        protoPackage,
        output: file?.output ?? module.path,
        ...(specifier !== undefined && { specifier }),
      };
    });
  }
}

function outdated({ package: name, viceroy }: InstalledContract, why: string): ContractError {
  return new ContractError(
    `the contract of ${name} was written by viceroy ${viceroy}, and this version reads it differently: ${why}`,
    `Use the same version of Viceroy in both packages, and run \`npx viceroy compile\` in ${name}.`,
  );
}
