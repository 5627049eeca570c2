/** Finds generated base classes of other packages by their names. */
import type { ImportedActor } from "../actors/index.js";
import type { ContractActor } from "./contract.js";
import type { ContractStore, InstalledContract } from "./contract-store.js";

export class ImportedBases {
  readonly #store: ContractStore;
  /** One object for each actor, because equal actors are compared by identity. */
  readonly #actors = new Map<string, ImportedActor>();

  constructor(store: ContractStore) {
    this.#store = store;
  }

  /**
   * Returns the actor whose base class has a name in a package.
   *
   * @param file the absolute path of a file of the package, generated or not
   * @throws ContractError if the package has schemas and its contract cannot be used
   */
  find(file: string, name: string): ImportedActor | undefined {
    const contract = this.#store.contractOf(file);
    const [first, ...others] = contract?.actors.filter(({ base }) => base === name) ?? [];
    if (contract === undefined || first === undefined) return undefined;
    // Two schema files of a package can declare actors of one name. Only one of the bases is in this file.
    const actor = others.length === 0 ? first : [first, ...others].find((one) => this.#isIn(file, one, contract));
    return actor && this.#actorOf(actor);
  }

  #isIn(file: string, { key }: ContractActor, contract: InstalledContract): boolean {
    const module = contract.modules.find(({ path }) => key.startsWith(`${contract.package}/${stem(path)}#`));
    return module !== undefined && stem(file).endsWith(`/${stem(module.output)}`);
  }

  #actorOf({ key, fingerprint }: ContractActor): ImportedActor {
    let actor = this.#actors.get(key);
    if (actor === undefined) {
      actor = { key, fingerprint: BigInt(`0x${fingerprint}`) };
      this.#actors.set(key, actor);
    }
    return actor;
  }
}

function stem(file: string): string {
  return file.replace(/(\.d)?\.[cm]?[jt]sx?$/, "");
}
