/**
 * The keys with which hosts have enrolled. A secret works for one key, so an issuer that is started again must know the
 * keys from before.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { makeSecretFile, makeSecretFolder } from "./secret-files.js";

export interface EnrolledKeys {
  /**
   * Keeps the key of a host, unless one is kept already.
   * @returns the key that is kept, as PEM
   * @throws Error if it cannot be kept
   */
  keep(uri: string, publicKey: string): string;
  /** Forgets the key of a host whose secret is replaced. */
  forget(uri: string): void;
}

/** Keys in memory, for an issuer that its hosts do not outlive. */
export class HeldKeys implements EnrolledKeys {
  readonly #keys = new Map<string, string>();

  keep(uri: string, publicKey: string): string {
    const known = this.#keys.get(uri) ?? publicKey;
    this.#keys.set(uri, known);
    return known;
  }

  forget(uri: string): void {
    this.#keys.delete(uri);
  }
}

/** Keys in files of a private folder. */
export class SavedKeys implements EnrolledKeys {
  readonly #folder: string;

  /** @throws Error if the folder cannot be made, or other users can open it */
  constructor(folder: string) {
    makeSecretFolder(folder);
    this.#folder = folder;
  }

  keep(uri: string, publicKey: string): string {
    return makeSecretFile(this.#fileOf(uri), publicKey);
  }

  forget(uri: string): void {
    rmSync(this.#fileOf(uri), { force: true });
  }

  #fileOf(uri: string): string {
    return join(this.#folder, encodeURIComponent(uri));
  }
}
