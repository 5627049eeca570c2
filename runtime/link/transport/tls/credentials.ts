/**
 * The certificate, key and authority that a process shows and asks for, from files. They are read again when they have
 * changed, so that certificates are replaced without a restart: connections that stand go on, new ones use the new files.
 */

import { readFileSync, statSync } from "node:fs";
import { errorMessage } from "../../../../shared/text/error-message.js";

/** Paths of the PEM files for TLS connections. */
export interface TlsFiles {
  /** The certificate of this process, followed by the certificates between it and the authority. */
  readonly cert: string;
  /** The private key of the certificate. */
  readonly key: string;
  /** The authorities whose certificates are trusted. Both sides of a connection present a certificate. */
  readonly ca: string;
}

export interface TlsMaterial {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer;
}

export class Credentials {
  readonly #files: TlsFiles;
  #stamp = "";
  #material: TlsMaterial | undefined;

  constructor(files: TlsFiles) {
    this.#files = files;
  }

  /**
   * What the files hold now: the same object as long as they are the same.
   * @throws Error that names the file, when one cannot be read; files that have been read once stay in use instead
   */
  current(): TlsMaterial {
    try {
      const stamp = this.#currentStamp();
      if (this.#material !== undefined && stamp === this.#stamp) return this.#material;
      const { cert, key, ca } = this.#files;
      const material = {
        cert: readTlsFile("certificate", cert),
        key: readTlsFile("key", key),
        ca: readTlsFile("authority", ca),
      };
      this.#stamp = stamp;
      this.#material = material;
      return material;
    } catch (error) {
      // Halfway through being replaced: what was there before holds until it is done.
      if (this.#material !== undefined) return this.#material;
      throw error;
    }
  }

  /** The files of now were no good: what was good before is used until they change once more. */
  keepUsing(good: TlsMaterial): void {
    this.#material = good;
  }

  #currentStamp(): string {
    const { cert, key, ca } = this.#files;
    return [fileStamp("certificate", cert), fileStamp("key", key), fileStamp("authority", ca)].join();
  }
}

/** What changes when the file does. */
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
