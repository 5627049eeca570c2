/**
 * Watches all files below a folder for every kind of change: written in place, replaced by a rename, deleted and
 * created again, moved with their folder. On Linux, Node.js watches each file by itself and loses files that are
 * replaced. This module therefore watches folders, each by itself: a folder reports all changes of its files.
 */
import { type Dirent, type FSWatcher, lstatSync, readdirSync, realpathSync, watch } from "node:fs";
import path from "node:path";

export interface TreeListener {
  /** @param name the path relative to the root; a folder that was created or removed has a trailing separator */
  onChange(name: string): void;
  /** Called if a folder cannot be watched. */
  onError(error: unknown): void;
}

export interface WatchedTree {
  close(): void;
}

/**
 * Watches a tree. It reports all changes after the call returns.
 * @param root the absolute path of the tree
 * @param isSkipped returns whether a folder, relative to the root, is not watched
 */
export function watchTree(root: string, isSkipped: (folder: string) => boolean, listener: TreeListener): WatchedTree {
  if (process.platform === "linux") return new FolderTree(root, isSkipped, listener);
  // Other systems watch the whole tree themselves.
  return watch(root, { recursive: true }, (_, name) => {
    if (name !== null && !isSkipped(name)) listener.onChange(name);
  });
}

class FolderTree implements WatchedTree {
  readonly #root: string;
  readonly #isSkipped: (folder: string) => boolean;
  readonly #listener: TreeListener;
  /**
   * The watchers of folders and of the targets of file links, by path relative to the root. The path of the root is
   * empty.
   */
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

  /**
   * Watches a folder and everything below it. It watches before it lists, so that the watcher reports changes in
   * between.
   */
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

  /** Watches the target of a link, which can be in a folder elsewhere. Links to folders are not followed. */
  #addLink(name: string): void {
    const target = realpathSync(path.join(this.#root, name));
    const watcher = watch(path.dirname(target), (_, changed) => {
      if (changed === path.basename(target)) this.#listener.onChange(name);
    });
    watcher.on("error", (error) => this.#listener.onError(error));
    this.#watchers.set(name, watcher);
  }

  #onEvent(event: string, name: string): void {
    // The name was created or removed, or now belongs to another file or folder.
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

  /** @returns whether the folder was watched */
  #remove(name: string): boolean {
    const gone = [...this.#watchers].filter(([other]) => other === name || other.startsWith(name + path.sep));
    for (const [other, watcher] of gone) {
      watcher.close();
      this.#watchers.delete(other);
    }
    return gone.length > 0;
  }
}

/** Ignores the error of a file that has vanished. The watcher of its folder reports the removal. */
function ignoreMissing(action: () => void): void {
  try {
    action();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
  }
}
