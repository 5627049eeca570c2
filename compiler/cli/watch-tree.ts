/**
 * Watches all files below a folder, in every way in which they can change: written in place, replaced by a rename, deleted
 * and made anew, moved with their folder. On Linux, Node.js watches each file by itself and loses those that are replaced, so
 * here folders are watched instead, each by itself: a folder reports whatever becomes of its files.
 */
import { type Dirent, type FSWatcher, lstatSync, readdirSync, realpathSync, watch } from "node:fs";
import path from "node:path";

export interface TreeListener {
  /** @param name relative to the root; of a folder that has come or gone: the folder, with a separator behind it */
  onChange(name: string): void;
  /** A folder cannot be watched. */
  onError(error: unknown): void;
}

export interface WatchedTree {
  close(): void;
}

/**
 * Watches from when it returns.
 * @param root absolute
 * @param isSkipped folders, relative to the root, that are not watched
 */
export function watchTree(root: string, isSkipped: (folder: string) => boolean, listener: TreeListener): WatchedTree {
  if (process.platform === "linux") return new FolderTree(root, isSkipped, listener);
  // Elsewhere the system itself watches the whole tree.
  return watch(root, { recursive: true }, (_, name) => {
    if (name !== null && !isSkipped(name)) listener.onChange(name);
  });
}

class FolderTree implements WatchedTree {
  readonly #root: string;
  readonly #isSkipped: (folder: string) => boolean;
  readonly #listener: TreeListener;
  /** Watchers of folders, and of files that are links to elsewhere, by their paths relative to the root; the root's path is empty. */
  readonly #watchers = new Map<string, FSWatcher>();

  constructor(root: string, isSkipped: (folder: string) => boolean, listener: TreeListener) {
    this.#root = root;
    this.#isSkipped = isSkipped;
    this.#listener = listener;
    this.#add("");
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  /** Watches a folder and all below it. Watches first and lists then: what comes in between is reported by the watcher. */
  #add(folder: string): void {
    if (folder !== "" && this.#isSkipped(folder)) return;
    const watcher = watch(path.join(this.#root, folder), (event, name) => {
      if (name !== null && this.#watchers.get(folder) === watcher) this.#onEvent(event, path.join(folder, name));
    });
    watcher.on("error", (error) => this.#listener.onError(error));
    this.#watchers.set(folder, watcher);
    for (const entry of readdirSync(path.join(this.#root, folder), { withFileTypes: true })) {
      this.#addEntry(path.join(folder, entry.name), entry);
    }
  }

  #addEntry(name: string, entry: Pick<Dirent, "isDirectory" | "isSymbolicLink">): void {
    ignoreMissing(() => {
      if (entry.isDirectory()) this.#add(name);
      else if (entry.isSymbolicLink()) this.#addLink(name);
    });
  }

  /** Watches the target of a link, which changes in a folder elsewhere. Links to folders are not followed. */
  #addLink(name: string): void {
    const target = realpathSync(path.join(this.#root, name));
    const watcher = watch(path.dirname(target), (_, changed) => {
      if (changed === path.basename(target)) this.#listener.onChange(name);
    });
    watcher.on("error", (error) => this.#listener.onError(error));
    this.#watchers.set(name, watcher);
  }

  #onEvent(event: string, name: string): void {
    // A name has come or gone, or is that of something else now: of another folder, perhaps.
    if (event === "rename") this.#refresh(name);
    this.#listener.onChange(name);
  }

  #refresh(name: string): void {
    const had = this.#remove(name);
    try {
      ignoreMissing(() => this.#addEntry(name, lstatSync(path.join(this.#root, name))));
    } catch (error) {
      this.#listener.onError(error);
    }
    if (had || this.#watchers.has(name)) this.#listener.onChange(name + path.sep);
  }

  /** @returns whether it was watched */
  #remove(name: string): boolean {
    const gone = [...this.#watchers].filter(([other]) => other === name || other.startsWith(name + path.sep));
    for (const [other, watcher] of gone) {
      watcher.close();
      this.#watchers.delete(other);
    }
    return gone.length > 0;
  }
}

/** Ignores the error of a file that has vanished: the watcher of its folder reports that. */
function ignoreMissing(action: () => void): void {
  try {
    action();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
  }
}
