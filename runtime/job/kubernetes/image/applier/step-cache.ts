/** The results of steps in a folder that pods share: copies of the image's files, under the digests of the steps. */
import { randomBytes } from "node:crypto";
import { constants, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage } from "../../../../../shared/text/error-message.js";
import { storeName } from "../../manifest/layout.js";

/** Time in ms after which a result that no pod has used is removed. */
const keptMs = 14 * 86_400_000;

const unfinished = "unfinished-";

export class StepCache {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** @throws Error if the folder cannot be written */
  static open(folder: string): StepCache {
    try {
      mkdirSync(folder, { recursive: true });
      const probe = join(folder, `${unfinished}${randomBytes(8).toString("hex")}`);
      mkdirSync(probe);
      rmSync(probe, { recursive: true });
    } catch (error) {
      throw new Error(
        `cannot keep the results of steps in imageCache: ${errorMessage(error)}; give the folder to the user ${process.getuid?.()} of the pods, or leave imageCache out`,
        { cause: error },
      );
    }
    return new StepCache(folder);
  }

  /** Returns whether the result of a step is there. */
  has(digest: string): boolean {
    return existsSync(this.#entry(digest));
  }

  /** Returns the path of the lock of a step. */
  lockOf(digest: string): string {
    return `${this.#entry(digest)}.lock`;
  }

  /** Replaces the files of an image by the result of a step. */
  async restore(digest: string, folder: string): Promise<void> {
    const entry = this.#entry(digest);
    const now = new Date();
    utimesSync(entry, now, now);
    clearFolder(folder);
    for (const name of readdirSync(entry)) await copy(join(entry, name), join(folder, name));
  }

  /** Keeps the files of an image as the result of a step. */
  async add(digest: string, folder: string): Promise<void> {
    const copied = join(this.#folder, `${unfinished}${randomBytes(8).toString("hex")}`);
    try {
      mkdirSync(copied);
      for (const name of readdirSync(folder)) {
        if (name !== storeName) await copy(join(folder, name), join(copied, name));
      }
      renameSync(copied, this.#entry(digest));
    } catch (error) {
      rmSync(copied, { recursive: true, force: true });
      // Another pod has made the same result.
      if (!this.has(digest)) throw error;
    }
  }

  /** Removes results that no pod has used for long, and what was interrupted. */
  removeOld(): void {
    const oldest = Date.now() - keptMs;
    for (const name of readdirSync(this.#folder)) {
      const entry = join(this.#folder, name);
      try {
        if (statSync(entry).mtimeMs < oldest) rmSync(entry, { recursive: true, force: true });
      } catch {
        // Another pod has removed it.
      }
    }
  }

  /** Addons depend on the platform and the version of Node.js, and one cache can have pods of several. */
  #entry(digest: string): string {
    const { arch, platform, versions } = process;
    return join(this.#folder, `${digest.slice(0, 32)}-${platform}-${arch}-${versions.modules}`);
  }
}

/** Removes the files of an image. */
export function clearFolder(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (name !== storeName) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

function copy(from: string, to: string): Promise<void> {
  return cp(from, to, {
    recursive: true,
    preserveTimestamps: true,
    // Relative links lead to the copies.
    verbatimSymlinks: true,
    mode: constants.COPYFILE_FICLONE,
  });
}
