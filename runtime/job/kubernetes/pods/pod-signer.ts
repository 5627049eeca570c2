/** Calls the hosts of a job that need a certificate, and those that may want theirs renewed. */
import type { CalledHost, PodIssuer } from "../../credentials/index.js";
import { currentPods, type PodFacts, type PodState } from "./pod-state.js";

/** The pauses in ms between calls of a host that has no certificate yet: it may still be starting. */
const firstPauseMs = 100;
const longestPauseMs = 2000;

/** The part of the lifetime of certificates between two calls of a host that has one. It asks at half of it. */
const renewalPart = 8;

export interface PodSignerOptions {
  readonly issuer: Pick<PodIssuer, "sign">;
  /** The lifetime of certificates, in ms. */
  readonly lifetime: number;
  readonly hostOf: (pod: PodFacts & { readonly ip: string }) => CalledHost;
  /** Called when a host has used its secret, and the next one needs another. */
  readonly onUsed: (pod: PodFacts) => Promise<void>;
  /** Returns whether `sign` has failed because the host does not have the secret of its identity. */
  readonly isStranger: (error: unknown) => boolean;
  /** Called once for each pod that does not have the secret of its rank. */
  readonly onStranger: (pod: PodFacts) => Promise<void>;
}

export class PodSigner {
  readonly #options: PodSignerOptions;
  /** The timers of the pods that are called, by their ids. */
  readonly #calls = new Map<string, { timer?: NodeJS.Timeout; pod: PodFacts; failures: number }>();

  /** The ids of the pods that were refused. */
  readonly #strangers = new Set<string>();
  readonly #underWay = new Set<Promise<void>>();

  constructor(options: PodSignerOptions) {
    this.#options = options;
  }

  /** Takes the pods as they are now. */
  see(state: PodState): void {
    const current = [...currentPods(state).values()].filter(({ isRunning, isOver, ip }) => isRunning && !isOver && ip);
    const ids = new Set(current.map(({ uid }) => uid));
    for (const [uid, { timer }] of this.#calls) {
      if (ids.has(uid)) continue;
      clearTimeout(timer);
      this.#calls.delete(uid);
      this.#strangers.delete(uid);
    }
    for (const pod of current) {
      const known = this.#calls.get(pod.uid);
      if (known !== undefined) {
        known.pod = pod;
        continue;
      }
      this.#calls.set(pod.uid, { pod, failures: 0 });
      this.#begin(pod.uid);
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
    const { issuer, hostOf, onUsed, lifetime } = this.#options;
    const { pod } = this.#calls.get(uid)!;
    let isSigned = false;
    try {
      const isUsed = await issuer.sign(hostOf(pod as PodFacts & { readonly ip: string }));
      isSigned = true;
      if (isUsed) await onUsed(pod);
    } catch (error) {
      // The host does not listen yet, or wants nothing now. A host that is refused tells why in its log.
      if (this.#options.isStranger(error)) await this.#refused(pod);
    }
    const call = this.#calls.get(uid);
    if (call === undefined) return;
    call.failures = isSigned ? 0 : call.failures + 1;
    const isUp = isSigned || call.pod.isReady;
    const pause = isUp ? lifetime / renewalPart : Math.min(longestPauseMs, firstPauseMs * 1.3 ** call.failures);
    call.timer = setTimeout(() => this.#begin(uid), Math.min(pause, 0x7fff_ffff)).unref();
  }

  async #refused(pod: PodFacts): Promise<void> {
    if (this.#strangers.has(pod.uid)) return;
    this.#strangers.add(pod.uid);
    // It is tried again for the next pod.
    await this.#options.onStranger(pod).catch(() => {});
  }
}
