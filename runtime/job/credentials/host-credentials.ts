/**
 * The key and the certificate of one host of a job. The host makes the key itself, and the key never leaves the host. The
 * certificate is renewed at half of its lifetime, through whatever signs it; the key stays the same.
 */
import { toError } from "../../../shared/text/error-message.js";
import { type Clock, MAX_TIMER_MS, type Random, type Timer } from "../../link/clock.js";
import type { Pipe } from "../../link/transport/pipe.js";
import {
  type Credentials,
  FileCredentials,
  HeldCredentials,
  type TlsFiles,
} from "../../link/transport/tls/credentials.js";
import { formatIdentity, type Identity } from "../../link/transport/tls/identity.js";
import { createKeyPair, type KeyPair, saveCredentials } from "./credential-files.js";
import { checkCertificate, enrol } from "./enrol.js";
import type { EnrolmentRequest, IssuedCertificate } from "./enrolment-messages.js";
import { makeSecretFolder, writeSecretFile } from "./secret-files.js";

/** Signs the next certificate of a host that has one. */
export interface Signer {
  /** Returns the certificate with those between it and the authority, and its lifetime. Rejects if it cannot be signed. */
  sign(request: EnrolmentRequest): Promise<Pick<IssuedCertificate, "chain" | "validFor">>;
}

export interface HostCredentialsOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** The identity that this host was told. */
  readonly identity: Identity;
  /** The one-time secret for this identity. */
  readonly secret: Uint8Array;
  /**
   * The private folder for the key and the certificate, which the processes of the host read. Without it, both are in
   * the memory of this process only, and other processes of the host do not listen.
   */
  readonly folder?: string;
  /** The time limit of the enrolment, in milliseconds. Default: 5,000. */
  readonly limitMs?: number;
}

/** The shortest pause between renewals, and between attempts at one, in milliseconds. */
const shortestPause = 1000;

export class HostCredentials {
  readonly identity: Identity;
  /** The source of the certificate for connections of this process. */
  readonly credentials: Credentials;
  /** The files of the certificate, for other processes of the host; undefined if it is in memory only. */
  readonly files: TlsFiles | undefined;
  readonly #clock: Clock;
  readonly #publicKey: string;
  readonly #authority: string;
  readonly #store: (chain: string) => void;
  /** The time at which the certificate was received, and its lifetime, both in milliseconds. */
  #receivedAt: number;
  #validFor: number;

  private constructor(
    { clock, identity, folder }: HostCredentialsOptions,
    keys: KeyPair,
    { chain, authority, validFor }: IssuedCertificate,
  ) {
    this.identity = identity;
    this.#clock = clock;
    this.#publicKey = keys.publicKey;
    this.#authority = authority;
    this.#receivedAt = clock.now();
    this.#validFor = validFor;
    if (folder === undefined) {
      const contents = (cert: string) => pemContents(cert, keys.privateKey, authority);
      const held = new HeldCredentials(contents(chain));
      this.credentials = held;
      this.#store = (cert) => held.replace(contents(cert));
    } else {
      const files = saveCredentials(folder, { cert: chain, key: keys.privateKey, ca: authority });
      this.files = files;
      this.credentials = new FileCredentials(files);
      this.#store = (cert) => writeSecretFile(files.cert, cert);
    }
  }

  /**
   * Makes a key, and gets its certificate from the issuer at the other end of a connection.
   * @throws HandshakeError if the issuer refuses this host or is an impostor; Error if the folder cannot be used
   */
  static async enrol(pipe: Pipe, options: HostCredentialsOptions): Promise<HostCredentials> {
    try {
      if (options.folder !== undefined) makeSecretFolder(options.folder);
    } catch (error) {
      pipe.destroy();
      throw error;
    }
    const keys = createKeyPair();
    const issued = await enrol(pipe, { ...options, publicKey: keys.publicKey });
    return new HostCredentials(options, keys, issued);
  }

  /**
   * Renews the certificate at half of its lifetime, again and again. The lifetime is counted from the arrival of the
   * certificate, so that the clocks of both machines may differ. After a failure, the renewal is tried again.
   * @param onFailed called with the reason of each failure
   * @returns a function that ends the renewals
   */
  renewThrough(signer: Signer, onFailed: (error: Error) => void): () => void {
    let isEnded = false;
    let timer: Timer | undefined;
    const wait = (ms: number) => {
      const step = Math.min(ms, MAX_TIMER_MS);
      timer = this.#clock.after(step, () => (ms > step ? wait(ms - step) : void renew()));
    };
    const renew = async () => {
      try {
        await this.#renew(signer);
        if (!isEnded) wait(this.#untilHalf());
      } catch (error) {
        if (isEnded) return;
        onFailed(toError(error));
        wait(Math.max(shortestPause, this.#untilExpiry() / 16));
      }
    };
    wait(this.#untilHalf());
    return () => {
      isEnded = true;
      timer?.cancel();
    };
  }

  async #renew(signer: Signer): Promise<void> {
    const uri = formatIdentity(this.identity);
    const { chain, validFor } = await signer.sign({ identity: uri, publicKey: this.#publicKey });
    checkCertificate({ chain, authority: this.#authority }, this.#publicKey, uri);
    this.#store(chain);
    this.#receivedAt = this.#clock.now();
    this.#validFor = validFor;
  }

  #untilHalf(): number {
    return Math.max(shortestPause, this.#receivedAt + this.#validFor / 2 - this.#clock.now());
  }

  #untilExpiry(): number {
    return Math.max(0, this.#receivedAt + this.#validFor - this.#clock.now());
  }
}

function pemContents(cert: string, key: string, ca: string) {
  return { cert: Buffer.from(cert), key: Buffer.from(key), ca: Buffer.from(ca) };
}
