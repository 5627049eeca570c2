/**
 * Watches single files anywhere on the disk, such as the contracts of other packages. It watches their folders, because
 * a file can be replaced by a rename. A file that does not exist is watched for in the nearest folder that exists.
 */
import { type FSWatcher, readFileSync, statSync, watch } from "node:fs";
import path from "node:path";

export interface FileListener {
  /** Called after one of the files may have changed. */
  onChange(): void;
  /** Called if a folder cannot be watched. */
  onError(error: unknown): void;
}

interface WatchedFolder {
  readonly watcher: FSWatcher;
  /** Identifies the folder itself, as opposed to another folder at the same path. */
  readonly identity: string;
  /** The names in the folder whose changes matter. */
  names: Set<string>;
}

export class WatchedFiles {
  readonly #listener: FileListener;
  readonly #folders = new Map<string, WatchedFolder>();

  constructor(listener: FileListener) {
    this.#listener = listener;
  }

  /**
   * Replaces the files that are watched. If one of them no longer has the given text, or a folder of one was made or removed meanwhile, it
   * reports a change at once, so that no change between the reading and the watching is lost.
   *
   * @param texts the texts by absolute path; undefined if the file was missing
   */
  watch(texts: ReadonlyMap<string, string | undefined>): void {
    const wanted = new Map<string, Set<string>>();
    const places = new Map<string, string>();
    for (const file of texts.keys()) {
      const { folder, name } = nearestFolder(file);
      places.set(file, folder);
      wanted.set(folder, (wanted.get(folder) ?? new Set()).add(name));
    }
    for (const [folder, { watcher, identity }] of this.#folders) {
      if (wanted.has(folder) && identityOf(folder) === identity) continue;
      watcher.close();
      this.#folders.delete(folder);
    }
    for (const [folder, names] of wanted) this.#add(folder, names);
    const isChanged = ([file, text]: readonly [string, string | undefined]) =>
      textOf(file) !== text || nearestFolder(file).folder !== places.get(file);
    if ([...texts].some(isChanged)) this.#listener.onChange();
  }

  close(): void {
    for (const { watcher } of this.#folders.values()) watcher.close();
    this.#folders.clear();
  }

  #add(folder: string, names: Set<string>): void {
    const known = this.#folders.get(folder);
    if (known !== undefined) {
      known.names = names;
      return;
    }
    const identity = identityOf(folder);
    if (identity === undefined) return;
    try {
      const watcher = watch(folder, (_, name) => {
        const now = this.#folders.get(folder);
        if (now?.watcher !== watcher || name === null) return;
        // The watcher reports its own folder, by the folder's name, when the folder is removed. A new folder at this path
        // can have the same number, so the watcher is dropped, and the next call of `watch` opens another one.
        const isRemoved = name === path.basename(folder);
        if (isRemoved) {
          watcher.close();
          this.#folders.delete(folder);
        }
        if (now.names.has(name) || isRemoved) this.#listener.onChange();
      });
      watcher.on("error", (error) => this.#listener.onError(error));
      this.#folders.set(folder, { watcher, identity, names });
    } catch (error) {
      this.#listener.onError(error);
    }
  }
}

/** Returns the nearest existing folder above a path, and the name in the folder through which the path leads. */
function nearestFolder(file: string): { readonly folder: string; readonly name: string } {
  for (let at = file; ; at = path.dirname(at)) {
    const folder = path.dirname(at);
    if (folder === at || statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
      return { folder, name: path.basename(at) };
    }
  }
}

/** Returns the number of a folder with its time of birth, because a file system uses numbers again. */
function identityOf(folder: string): string | undefined {
  const found = statSync(folder, { throwIfNoEntry: false, bigint: true });
  return found && `${found.ino} ${found.birthtimeNs}`;
}

/** Returns the text of a file, an empty text for a folder, or undefined if there is nothing. */
function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EISDIR" ? "" : undefined;
  }
}
