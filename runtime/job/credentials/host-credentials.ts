/**
 * The key and the certificate of one host of a job. The host makes the key itself, and the key never leaves the host. The
 * certificate is renewed at half of its lifetime, through whatever signs it; the key stays the same.
 */
import { errorMessage, toError } from "../../../shared/text/error-message.js";
import { type Clock, MAX_TIMER_MS, type Random, type Timer } from "../../link/clock.js";
import { HandshakeError } from "../../link/handshake/errors.js";
import type { TlsFiles } from "../../link/transport/tls/credentials.js";
import { formatIdentity, type Identity } from "../../link/transport/tls/identity.js";
import { createKeyPair, type KeyPair, saveCredentials } from "./credential-files.js";
import { checkCertificate, enrol } from "./enrol.js";
import type { EnrolmentRequest, IssuedCertificate } from "./enrolment-messages.js";
import type { IssuerRoute } from "./issuer-route.js";
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
  /** The private folder for the key and the certificate, which the processes of the host read. */
  readonly folder: string;
  /** The time limit of one enrolment, in milliseconds. Default: 5,000. */
  readonly limitMs?: number;
  /** The time for which an issuer that cannot be reached is tried again, in milliseconds. Default: 30,000. */
  readonly patience?: number;
}

/** The shortest pause between renewals, and between attempts at one, in milliseconds. */
const shortestPause = 1000;

/** The pause between attempts to reach an issuer for the first certificate, in milliseconds. */
const enrolmentPause = 200;
const defaultPatience = 30_000;

export class HostCredentials {
  readonly identity: Identity;
  /** The files of the certificate. */
  readonly files: TlsFiles;
  readonly #clock: Clock;
  readonly #publicKey: string;
  readonly #authority: string;
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
    this.files = saveCredentials(folder, { cert: chain, key: keys.privateKey, ca: authority });
  }

  /**
   * Makes a key, and gets its certificate from the issuer.
   * @throws HandshakeError if the issuer refuses this host or is an impostor, or their clocks differ too much
   * @throws Error if the folder cannot be used, or the issuer cannot be reached
   */
  static async enrol(issuer: IssuerRoute, options: HostCredentialsOptions): Promise<HostCredentials> {
    makeSecretFolder(options.folder);
    const keys = createKeyPair();
    const { publicKey } = keys;
    const { clock, patience = defaultPatience } = options;
    const end = clock.now() + patience;
    for (;;) {
      try {
        // All attempts have the same key, because the answer to one of them may have been lost.
        const issued = await enrol(await issuer.connect(), { ...options, publicKey });
        return new HostCredentials(options, keys, issued);
      } catch (error) {
        if (error instanceof HandshakeError && !error.isTransient) throw error;
        if (clock.now() >= end) throw unreachable(issuer, options.identity, patience, error);
      }
      await new Promise<void>((resolve) => clock.after(enrolmentPause, resolve));
    }
  }

  /**
   * Renews the certificate at the issuer that has signed the first one, as `renewThrough` does.
   * @param secret the secret of the first enrolment, which is valid for this key
   */
  renewAt(
    issuer: IssuerRoute,
    { secret, random }: HostCredentialsOptions,
    onFailed: (error: Error) => void,
  ): () => void {
    const { identity } = this;
    const clock = this.#clock;
    const sign: Signer["sign"] = async ({ publicKey }) =>
      enrol(await issuer.connect(), { clock, random, identity, secret, publicKey });
    return this.renewThrough({ sign }, onFailed);
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

  /** The time at which the certificate expires by the clock of this machine, in milliseconds since 1970. */
  get expiresAt(): number {
    return this.#clock.epochMs() + this.#untilExpiry();
  }

  async #renew(signer: Signer): Promise<void> {
    const uri = formatIdentity(this.identity);
    const { chain, validFor } = await signer.sign({ identity: uri, publicKey: this.#publicKey });
    checkCertificate({ chain, authority: this.#authority }, this.#publicKey, uri);
    writeSecretFile(this.files.cert, chain);
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

function unreachable({ name }: IssuerRoute, identity: Identity, patience: number, cause: unknown): Error {
  const text =
    `cannot enrol as ${formatIdentity(identity)}: cannot reach the issuer of its certificate ${name}: ` +
    `${errorMessage(cause)}; tried for ${patience} ms; check that it runs, and that this machine reaches its port`;
  return new Error(text, { cause });
}
