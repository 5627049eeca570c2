/**
 * The certificate, key and authorities of a process. They can be replaced without a restart: the files are read again when
 * they have changed. New connections use the new certificate; open connections continue.
 */

import { readFileSync, statSync } from "node:fs";
import { errorMessage } from "../../../../shared/text/error-message.js";
import { type Identity, identityInPem } from "./identity.js";

/** Paths of the PEM files for TLS connections. */
export interface TlsFiles {
  /** The certificate of this process, followed by the certificates between it and the authority. */
  readonly cert: string;
  /** The private key of the certificate. */
  readonly key: string;
  /** The authorities whose certificates are trusted. Both sides of a connection present a certificate. */
  readonly ca: string;
}

/** The contents of the files for TLS. */
export interface TlsContents {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer;
}

/** The contents of the files for TLS, and what the certificate says about this process. */
export interface TlsMaterial extends TlsContents {
  /** The identity of this process in a job; undefined if the certificate has none. */
  readonly identity: Identity | undefined;
}

/** The source of what a process presents to its peers, and of the authorities that it trusts. */
export interface Credentials {
  /** Returns what new connections use, as the same object as long as nothing has changed. */
  current(): TlsMaterial;
  /** Rejects the current contents: `good` is used until they change again. */
  keepUsing(good: TlsMaterial): void;
}

function materialOf(contents: TlsContents): TlsMaterial {
  return { ...contents, identity: identityInPem(contents.cert) };
}

/** Credentials in files. */
export class FileCredentials implements Credentials {
  readonly #files: TlsFiles;
  #stamp = "";
  #material: TlsMaterial | undefined;

  constructor(files: TlsFiles) {
    this.#files = files;
  }

  /**
   * Returns the contents of the files, as the same object as long as the files do not change.
   * @throws Error that names the file if one cannot be read, unless the files have been read before: then the earlier
   * contents stay in use
   */
  current(): TlsMaterial {
    try {
      const stamp = this.#currentStamp();
      if (this.#material !== undefined && stamp === this.#stamp) return this.#material;
      const { cert, key, ca } = this.#files;
      const material = materialOf({
        cert: readTlsFile("certificate", cert),
        key: readTlsFile("key", key),
        ca: readTlsFile("authority", ca),
      });
      this.#stamp = stamp;
      this.#material = material;
      return material;
    } catch (error) {
      // The files are being replaced. The earlier contents stay in use until that is done.
      if (this.#material !== undefined) return this.#material;
      throw error;
    }
  }

  keepUsing(good: TlsMaterial): void {
    this.#material = good;
  }

  #currentStamp(): string {
    const { cert, key, ca } = this.#files;
    return [fileStamp("certificate", cert), fileStamp("key", key), fileStamp("authority", ca)].join();
  }
}

/** Returns a value that changes whenever the file changes. */
function fileStamp(what: string, file: string): string {
  try {
    const { mtimeNs, ctimeNs, size, ino } = statSync(file, { bigint: true });
    return `${mtimeNs}/${ctimeNs}/${size}/${ino}`;
  } catch (cause) {
    throw tlsFileError(what, file, cause);
  }
}

function readTlsFile(what: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw tlsFileError(what, file, cause);
  }
}

function tlsFileError(what: string, file: string, cause: unknown): Error {
  const why = errorMessage(cause);
  return new Error(`cannot read the ${what} for TLS from ${file}: ${why}`, { cause });
}
