/** Calls the hosts of a job that need a certificate, and those that may want theirs renewed. */
import type { CalledHost, PodIssuer } from "./credentials/index.js";

/** The pauses in ms between calls of a host that has no certificate yet: it may still be starting. */
const firstPauseMs = 100;
const longestPauseMs = 2000;

/** The part of the lifetime of certificates between two calls of a host that has one. It asks at half of it. */
const renewalPart = 8;

/** A host that can be called. */
export interface Callable {
  /** An id that no other host has had. */
  readonly uid: string;
  /** Whether the host has had a certificate before. */
  readonly isReady: boolean;
}

export interface CalledHostsOptions<H extends Callable> {
  readonly issuer: Pick<PodIssuer, "sign">;
  /** The lifetime of certificates, in ms. */
  readonly lifetime: number;
  readonly hostOf: (host: H) => CalledHost;
  /** Called when a host has got a certificate. */
  readonly onSigned?: (host: H) => void;
  /** Called when a host has used its secret, and the next one needs another. */
  readonly onUsed: (host: H) => Promise<void>;
  /** Returns whether `sign` has failed because the host does not have the secret of its identity. */
  readonly isStranger: (error: unknown) => boolean;
  /** Called once for each host that does not have the secret of its identity. */
  readonly onStranger: (host: H) => Promise<void>;
}

export class CalledHosts<H extends Callable> {
  readonly #options: CalledHostsOptions<H>;
  /** The timers of the hosts that are called, by their ids. */
  readonly #calls = new Map<string, { timer?: NodeJS.Timeout; host: H; failures: number }>();
  /** The ids of the hosts that were refused. */
  readonly #strangers = new Set<string>();
  readonly #underWay = new Set<Promise<void>>();

  constructor(options: CalledHostsOptions<H>) {
    this.#options = options;
  }

  /** Calls these hosts from now on, and no other ones. */
  see(hosts: readonly H[]): void {
    const ids = new Set(hosts.map(({ uid }) => uid));
    for (const [uid, { timer }] of this.#calls) {
      if (ids.has(uid)) continue;
      clearTimeout(timer);
      this.#calls.delete(uid);
      this.#strangers.delete(uid);
    }
    for (const host of hosts) {
      const known = this.#calls.get(host.uid);
      if (known !== undefined) {
        known.host = host;
        continue;
      }
      this.#calls.set(host.uid, { host, failures: 0 });
      this.#begin(host.uid);
    }
  }

  /** Makes no further calls. */
  close(): void {
    for (const { timer } of this.#calls.values()) clearTimeout(timer);
    this.#calls.clear();
  }

  /** Makes no further calls, and resolves when those that are under way have ended, so that another signer can go on. */
  async leave(): Promise<void> {
    this.close();
    await Promise.all(this.#underWay);
  }

  #begin(uid: string): void {
    const call = this.#call(uid).finally(() => this.#underWay.delete(call));
    this.#underWay.add(call);
  }

  async #call(uid: string): Promise<void> {
    const { issuer, hostOf, onSigned, onUsed, lifetime } = this.#options;
    const { host } = this.#calls.get(uid)!;
    let isSigned = false;
    try {
      const isUsed = await issuer.sign(hostOf(host));
      isSigned = true;
      onSigned?.(host);
      if (isUsed) await onUsed(host);
    } catch (error) {
      // The host does not listen yet, or wants nothing now. A host that is refused tells why in its log.
      if (this.#options.isStranger(error)) await this.#refused(host);
    }
    const call = this.#calls.get(uid);
    if (call === undefined) return;
    call.failures = isSigned ? 0 : call.failures + 1;
    const isUp = isSigned || call.host.isReady;
    const pause = isUp ? lifetime / renewalPart : Math.min(longestPauseMs, firstPauseMs * 1.3 ** call.failures);
    call.timer = setTimeout(() => this.#begin(uid), Math.min(pause, 0x7fff_ffff)).unref();
  }

  async #refused(host: H): Promise<void> {
    if (this.#strangers.has(host.uid)) return;
    this.#strangers.add(host.uid);
    // It is tried again for the next host.
    await this.#options.onStranger(host).catch(() => {});
  }
}
