/**
 * The code that processes on attached hosts run. Without a sync, a host loads the program from the same paths as the driver's
 * machine. After one, it loads the tree of files that was brought there. A mesh of processes keeps the tree that it has begun with.
 */
import type { ProcId } from "../../link/address.js";
import type { StartRequest } from "../../proc/platform/platform.js";
import {
  formatPlaces,
  locateOptions,
  locatePath,
  type ProgramPlaces,
  placesVariable,
} from "../../proc/platform/program-places.js";

/** A tree of code on one host. */
export interface CodePlace {
  readonly places: ProgramPlaces;
  /** The working directory of processes on the host. */
  readonly cwd: string;
}

/** A tree of code, which is brought to hosts when they need it. */
export interface CodeTree {
  /** The id of the tree. */
  readonly id: string;
  /**
   * Returns where the tree is on a host. A host that does not have it yet, as one that has joined the mesh, gets it first; the promise
   * rejects with the reason if that fails.
   *
   * @param host the id of the driver's agent on the host
   */
  on(host: ProcId): CodePlace | Promise<CodePlace>;
}

/** The code of a mesh of processes, which may be decided while its processes start. */
export class MeshCode {
  /** The tree; undefined if processes load the paths of the driver, and as long as that is being decided. */
  tree: CodeTree | undefined;
  /** Resolves when the tree has been decided; rejects if the code cannot be brought to the hosts. Undefined afterwards. */
  deciding: Promise<void> | undefined;

  constructor(tree: CodeTree | Promise<CodeTree | undefined>) {
    if (!(tree instanceof Promise)) {
      this.tree = tree;
      return;
    }
    this.deciding = tree.then((found) => {
      this.tree = found;
      this.deciding = undefined;
    });
    this.deciding.catch(() => {});
  }
}

/**
 * Returns where a mesh's code is on a host; undefined if processes load it from the paths of the driver.
 *
 * @param code undefined: the hosts have the code, or the mesh is on this machine
 */
export function codeOn(
  code: MeshCode | undefined,
  host: ProcId,
): CodePlace | Promise<CodePlace | undefined> | undefined {
  return code?.deciding === undefined ? code?.tree?.on(host) : code.deciding.then(() => code.tree?.on(host));
}

/** The surroundings that the start of a process sets. */
type Surroundings = Pick<StartRequest, "env" | "cwd"> & { readonly execArgv: readonly string[] };

/** Returns the start of a process so that it runs in a tree. */
export function startIn<S extends Surroundings>(place: CodePlace | undefined, start: S): S {
  if (place === undefined) return start;
  const { places, cwd } = place;
  return {
    ...start,
    env: { ...start.env, [placesVariable]: formatPlaces(places) },
    execArgv: locateOptions(start.execArgv, places),
    cwd: start.cwd === undefined ? cwd : locatePath(start.cwd, places),
  };
}

/**
 * Decides whether a tree is brought to hosts, and brings it.
 *
 * @param files the files and folders of this machine that a program there needs. Default: the registries of this program
 */
type FirstCode = (files?: readonly string[]) => Promise<CodeTree | undefined>;

/** The code that later processes on hosts that were attached together run. */
export class HostsCode {
  #latest: MeshCode | undefined;
  readonly #first: FirstCode | undefined;

  /** @param first decides at the first spawn whether a tree is brought to the hosts, unless one was brought before */
  constructor(first?: FirstCode) {
    this.#first = first;
  }

  /** Waits until the code of all meshes has been decided, and ends what has brought it, because another process gets the hosts. */
  async leave(): Promise<void> {
    await this.#latest?.deciding?.catch(() => {});
    await this.endStores();
  }

  /** Ends what has brought code to the hosts. The next sync starts it again. */
  endStores: () => Promise<void> = () => Promise.resolve();

  set(tree: CodeTree): void {
    this.#latest = new MeshCode(tree);
  }

  /**
   * Returns the code for a program that is no process of Viceroy. It is brought to the hosts if they do not have it.
   *
   * @param files the files and folders of this machine that the program needs
   * @returns undefined if the program finds its files at the paths of this machine, or nothing is brought to the hosts
   */
  async forProgram(files: readonly string[]): Promise<CodeTree | undefined> {
    await this.#latest?.deciding;
    const tree = this.#latest?.tree ?? (await this.#first?.(files));
    if (tree !== undefined) this.#latest ??= new MeshCode(tree);
    return tree;
  }

  /**
   * Returns the code for processes that are being spawned.
   *
   * @param isDeployed whether the program says that the hosts have its code
   */
  forSpawn(isDeployed: boolean): MeshCode | undefined {
    if (this.#latest !== undefined || this.#first === undefined || isDeployed) return this.#latest;
    const code = new MeshCode(this.#first());
    this.#latest = code;
    // The next spawn tries again.
    code.deciding?.catch(() => {
      if (this.#latest === code) this.#latest = undefined;
    });
    return code;
  }
}
