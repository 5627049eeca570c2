/** A tree of code that was brought to hosts, as processes there use it. */
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { TreeAddress, TreePackages } from "../../generated/sync.js";
import type { BroughtTree, CodeStores } from "./code-stores.js";
import {
  type AttachedHosts,
  type CodePlace,
  type CodeTree,
  locateModule,
  type MovedFolder,
  ownScheme,
  type ProcId,
  placesOfNext,
} from "./kernel.js";
import { contains } from "./scan/check-root.js";
import type { Scan } from "./scan/scan.js";

/** A folder of this machine, and its place in the tree. */
export interface PlacedFolder {
  readonly folder: string;
  /** The path in the tree, "" for the tree itself. */
  readonly at: string;
}

export class SyncedTree implements CodeTree, BroughtTree {
  readonly id: string;
  readonly address: TreeAddress;
  readonly name: string;
  readonly packages: readonly TreePackages[];
  readonly #attached: AttachedHosts;
  readonly #stores: CodeStores;
  readonly #folders: readonly PlacedFolder[];
  /** The path in the tree of the folder that corresponds to the working directory. */
  readonly #cwd: string;
  readonly #hasRuntime: boolean;
  readonly #places = new Map<ProcId, CodePlace | Promise<CodePlace>>();

  constructor(
    attached: AttachedHosts,
    stores: CodeStores,
    scan: Scan,
    { name, packages }: Pick<BroughtTree, "name" | "packages">,
  ) {
    const { manifest, entries, roots, top } = scan;
    this.id = manifest.id;
    this.address = manifest.address;
    this.name = name;
    this.packages = packages;
    this.#attached = attached;
    this.#stores = stores;
    this.#folders = placedFolders(scan);
    const inTree = (folder: string) => entries.some((entry) => entry.path.startsWith(`${folder}/`));
    const cwd = path.relative(top, process.cwd()).replaceAll(path.sep, "/");
    const isInside = roots.some(({ root }) => contains(root, process.cwd())) && (cwd === "" || inTree(cwd));
    this.#cwd = isInside ? cwd : (roots[0]?.at ?? "");
    const own = new URL(locateModule(`${ownScheme}runtime.cjs`));
    this.#hasRuntime = entries.some((entry) => pathToFileURL(scan.fileOf(entry)).href === own.href);
  }

  /** Records where the tree is on a host. */
  add(host: ProcId, folder: string): void {
    const urlOf = (at: string) => `${pathToFileURL(at).href}/`;
    const places: MovedFolder[] = this.#folders.map((each) => ({
      from: urlOf(each.folder),
      to: urlOf(path.posix.join(folder, each.at)),
    }));
    // Processes load the modules of Viceroy from its installation on the host, unless the tree contains them.
    if (!this.#hasRuntime) places.unshift({ from: locateModule(ownScheme), to: ownScheme });
    this.#places.set(host, { places: placesOfNext(places), cwd: path.posix.join(folder, this.#cwd) });
  }

  on(host: ProcId): CodePlace | Promise<CodePlace> {
    let place = this.#places.get(host);
    if (place === undefined) {
      const bringing = this.#bring(host);
      // The next process tries again.
      bringing.catch(() => this.#places.delete(host));
      place = bringing;
      this.#places.set(host, bringing);
    }
    return place;
  }

  /** Brings the tree to a host that was attached after the sync. */
  async #bring(host: ProcId): Promise<CodePlace> {
    const number = this.#attached.hosts.findIndex(({ id }) => id === host);
    const { id } = this;
    if (number < 0) throw new Error(`cannot bring tree ${id.slice(0, 12)} to a host: it has left the mesh`);
    const region = { labels: [], sizes: [], strides: [], offset: number };
    const [result] = await this.#stores.bring(this, region, () => {});
    if (result?.status !== "fulfilled") throw result?.reason;
    this.add(host, result.value.folder);
    return this.#places.get(host) as CodePlace;
  }
}

/** Returns the folders of this machine that the tree contains. The first that contains a file counts. */
export function placedFolders(scan: Scan): PlacedFolder[] {
  return [...placedElsewhere(scan), ...scan.roots.map(({ root, at }) => ({ folder: root, at }))];
}

/** Returns the packages that have another place in the tree than on this machine, as linked ones. */
function placedElsewhere({ entries, top, fileOf }: Scan): PlacedFolder[] {
  const folders: PlacedFolder[] = [];
  for (const entry of entries) {
    if (path.posix.basename(entry.path) !== "package.json" || !entry.path.includes("node_modules/")) continue;
    const folder = path.dirname(fileOf(entry));
    const at = path.posix.dirname(entry.path);
    if (folder !== path.join(top, at)) folders.push({ folder, at });
  }
  // The innermost folder counts.
  return folders.sort((left, right) => right.folder.length - left.folder.length);
}
