/** Says which imports get a package of the runtime environment, and not one that is found in the usual way. */
import { existsSync } from "node:fs";
import { builtinModules } from "node:module";
import { join } from "node:path";

/** Packages of Viceroy stay those of the program: its runtime must be in a process once. */
const programsOwn = /^(?:viceroy|@viceroy\/[^/]+)$/;

/** The packages in a folder that npm has installed. */
export class OwnPackages {
  /** A file in the folder, as which an import finds the packages. It does not exist. */
  readonly importer: string;
  readonly #modules: string;
  readonly #known = new Map<string, boolean>();

  constructor(folder: string) {
    this.importer = join(folder, "importer.js");
    this.#modules = join(folder, "node_modules");
  }

  /**
   * Returns whether an import gets a package of the folder. Packages keep their own dependencies.
   *
   * @param importer the path or the URL of the module that imports; undefined for none
   */
  has(specifier: string, importer: string | undefined): boolean {
    if (importer !== undefined && /[\\/]node_modules[\\/]/.test(importer)) return false;
    const [, name] = /^((?:@[^/]+\/)?[^@./#:][^/:]*)(?:\/|$)/.exec(specifier) ?? [];
    if (name === undefined || programsOwn.test(name) || builtinModules.includes(name)) return false;
    let known = this.#known.get(name);
    if (known === undefined) {
      known = existsSync(join(this.#modules, name));
      this.#known.set(name, known);
    }
    return known;
  }
}
