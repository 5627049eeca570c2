/**
 * The host through which a driver reaches other hosts, as the driver sees it: the connections through it, the driver's
 * agent on it, and the process there that watches the other hosts, so that a driver that is absent for a while declares
 * none of them gone. When the host ends or does not answer, another daemon takes its place: a new one at the same address,
 * or the next candidate. Links to the other hosts go on, because their ends are not on the gateway.
 */
import type { ProcessRuntime } from "../../proc/process/process-runtime.js";
import { candidateName, DriverGateway, wayTo } from "../../proc/remote/driver-gateway.js";
import { isTransient } from "../../proc/remote/host-connection.js";
import { AttachedHost, type HostAccess, type HostGateway } from "./attached-host.js";
import { GatewayPresence } from "./gateway-presence.js";
import type { HostAddress } from "./host-targets.js";
import { HostWatcher, startWatching } from "./host-watcher.js";

export interface GatewayOptions {
  /** Returns the hosts that can be the gateway now, in the order in which they are tried. */
  readonly candidates: () => readonly HostAddress[];
  /** The time in ms for which the driver may have no connection to a gateway. */
  readonly absence: number;
}

/**
 * The time in ms, beyond `absence`, for which hosts wait for the first beat of a new watching process, and links for a new
 * connection: a gateway may come back at the last moment.
 */
const takeoverMs = 10_000;

/** Returns the time in ms after which hosts that hear nothing of the driver end its processes. */
export function keepAliveOf({ absence }: GatewayOptions): number {
  return absence + takeoverMs;
}

/** Pauses in ms between attempts to attach a gateway: each is twice the previous one. */
const firstPause = 50;
const longestPause = 2000;

export class GatewayHost implements HostGateway {
  readonly route: DriverGateway<HostAddress>;
  readonly watcher: HostWatcher;
  readonly #runtime: ProcessRuntime;
  readonly #options: GatewayOptions;
  readonly #access: HostAccess;
  readonly #onLost: (reason: string) => void;
  /** The host with the driver's agent; undefined until one has accepted the driver, and after the gateway was lost. */
  #host: AttachedHost | undefined;
  #attaching: AttachedHost | undefined;
  #ready: Promise<void>;
  #moving: Promise<void> | undefined;
  #presence: GatewayPresence | undefined;
  /** Earlier gateways that have not heard yet that they were left. */
  readonly #formers = new Set<AttachedHost>();
  /** Whether the gateway was lost, or none was found. */
  #isIdle = false;
  #isLeaving = false;

  /** @param onLost called with the reason when no candidate was reached for `absence`; `ready` starts again then */
  constructor(runtime: ProcessRuntime, options: GatewayOptions, access: HostAccess, onLost: (reason: string) => void) {
    const { platform, mainProc } = runtime;
    this.#runtime = runtime;
    this.#options = options;
    this.#access = access;
    this.#onLost = onLost;
    this.route = new DriverGateway(platform, mainProc.proc, {
      candidates: options.candidates,
      proof: access.proof,
      absence: options.absence + takeoverMs,
      opened: () => this.#tunnelOpened(),
    });
    this.watcher = new HostWatcher(runtime, (id) => {
      const host = this.#agentHost;
      return host && startWatching(mainProc.proc, id, (request) => host.start(mainProc.proc, request));
    });
    this.#ready = this.#begin();
  }

  /** Resolves when a gateway has accepted this driver; rejects with the reason if none has. */
  get ready(): Promise<void> {
    if (this.#isIdle && !this.#isLeaving) this.#ready = this.#begin();
    return this.#ready;
  }

  /** The random id of the daemon; undefined until it is known. */
  get daemon(): bigint | undefined {
    return this.#host?.daemon;
  }

  /** Goes on through no other gateway any more, because this one is about to be shut down. */
  stay(): void {
    this.#isLeaving = true;
    this.#presence?.stop();
  }

  /** Takes the gateway for ended, because this driver has shut its daemon down: it would answer nothing. */
  ended(reason: string): void {
    this.stay();
    this.#host?.giveUp(reason);
  }

  /** Leaves the gateway, after the hosts behind it. Never rejects. */
  async leave(reason: string): Promise<void> {
    this.stay();
    for (const host of this.#formers) host.giveUp(reason);
    this.#attaching?.giveUp(reason);
    await this.#host?.leave(reason);
    this.route.close();
  }

  /** Leaves the gateway to nobody: what the driver had there ends, and what it had behind it passes to another process. */
  giveUp(reason: string): void {
    void this.leave(reason);
  }

  /** The host on which the agent is; undefined if it was lost. */
  get #agentHost(): AttachedHost | undefined {
    return this.#host?.isLost === false ? this.#host : undefined;
  }

  /** Whether the agent is on the host through which the tunnel goes. */
  get #isSettled(): boolean {
    const { address } = this.route;
    return this.#agentHost !== undefined && (address === undefined || address === this.#agentHost.address);
  }

  #begin(): Promise<void> {
    this.#isIdle = false;
    const begun = this.#attachFirst().then(() => this.#observe());
    begun.catch(() => {
      this.#isIdle = true;
    });
    return begun;
  }

  /** Begins to observe whether the gateway answers. */
  #observe(): void {
    if (this.#isLeaving) return;
    const { clock } = this.#runtime.platform;
    const asked = { ask: () => this.#ask(), why: () => this.route.lastFailure };
    this.#presence = new GatewayPresence(clock, asked, this.#options.absence, (why) => this.#gone(why));
    if (!this.#isSettled) this.#move(`the driver gateway ${this.#host!.address} is gone`);
  }

  /** Asks whether a gateway answers, and tells the agent that this driver is there if nothing else does. */
  #ask(): Promise<boolean> {
    const host = this.#agentHost;
    if (host?.target.dial !== undefined) void host.beat();
    return this.route.check();
  }

  /** Attaches the first candidate that accepts this driver. @throws Error if none has within the time limit of the hosts */
  async #attachFirst(): Promise<void> {
    const { clock } = this.#runtime.platform;
    const end = clock.now() + this.#access.timeout;
    let refusals = 0;
    for (let pause = firstPause; ; pause = Math.min(2 * pause, longestPause)) {
      let candidate: HostAddress;
      try {
        candidate = await this.route.reach();
      } catch (error) {
        if (this.#isLeaving || !isTransient(error) || clock.now() >= end) throw error;
        await this.#sleep(pause);
        continue;
      }
      try {
        await this.#attach(candidate);
        return;
      } catch (error) {
        if (this.#isLeaving || clock.now() >= end || ++refusals >= this.#options.candidates().length) throw error;
        await this.route.moveOn();
      }
    }
  }

  /** Attaches a candidate, and makes it the gateway. @throws Error if it does not accept this driver */
  async #attach(candidate: HostAddress): Promise<void> {
    const { absence } = this.#options;
    const access = {
      ...this.#access,
      silence: absence,
      keepAlive: absence,
      role: "gateway" as const,
      way: wayTo(this.#runtime.platform, candidate, absence),
    };
    const calls = {
      lost: (host: AttachedHost, reason: string) => this.#agentLost(host, reason),
      waitFor: () => undefined,
    };
    const host = new AttachedHost(this.#runtime, candidate, access, calls);
    this.#attaching = host;
    try {
      await host.ready;
    } finally {
      this.#attaching = undefined;
    }
    if (host.isLost) throw new Error(`host ${host.address} has ended`);
    if (this.#isLeaving) {
      await host.leave("the driver has left its hosts");
      throw new Error("the driver has left its hosts");
    }
    const former = this.#host;
    this.#host = host;
    this.watcher.restart();
    if (former !== undefined) this.#leaveFormer(former, `the driver goes on through ${host.address}`);
  }

  /** Leaves a gateway that may not answer now. When it comes back, it ends what the driver had there. */
  #leaveFormer(host: AttachedHost, reason: string): void {
    this.#formers.add(host);
    void host.leave(reason).then(() => this.#formers.delete(host));
  }

  #agentLost(host: AttachedHost, reason: string): void {
    if (host === this.#host) this.#move(reason);
  }

  #tunnelOpened(): void {
    this.#presence?.answered();
    const { address } = this.route;
    if (this.#attaching !== undefined && this.#attaching.address !== address) {
      this.#attaching.giveUp(`the driver goes on through ${address}`);
    }
    if (this.#host === undefined || this.#isSettled) return;
    const why = this.route.lastFailure ?? "it does not answer";
    this.#move(`the driver gateway ${this.#host.address} was left: ${why}`);
  }

  #move(reason: string): void {
    if (this.#isLeaving || this.#presence?.isOver !== false) return;
    this.#moving ??= this.#moveAgent(reason, this.#presence).finally(() => {
      this.#moving = undefined;
    });
  }

  /** Tries to attach the host through which the tunnel goes, until the agent is there or the gateway is lost. Never rejects. */
  async #moveAgent(reason: string, presence: GatewayPresence): Promise<void> {
    const { platform } = this.#runtime;
    const since = platform.clock.now();
    for (let pause = firstPause; !this.#isLeaving && !presence.isOver; pause = Math.min(2 * pause, longestPause)) {
      if (this.#isSettled) return;
      let failure: Error;
      try {
        const candidate = await this.route.reach();
        if (this.#isSettled || this.#isLeaving || presence.isOver) continue;
        try {
          await this.#attach(candidate);
          platform.warn(`${reason}; the driver goes on through ${this.#host!.address}`, "ViceroyGateway");
          continue;
        } catch (error) {
          failure = error as Error;
          if (this.route.address === candidateName(candidate)) await this.route.moveOn();
        }
      } catch (error) {
        failure = error as Error;
      }
      // While there is an agent, nothing is lost.
      if (this.#agentHost === undefined && platform.clock.now() - since >= this.#options.absence) {
        presence.giveUp(failure.message);
      }
      await this.#sleep(pause);
    }
  }

  #gone(why: string): void {
    const former = this.#host!;
    this.#host = undefined;
    this.#isIdle = true;
    this.#attaching?.giveUp(why);
    this.#leaveFormer(former, why);
    const { absence } = this.#options;
    this.#onLost(`the driver gateway ${former.address} is gone, and none took its place within ${absence} ms: ${why}`);
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.#runtime.platform.clock.after(ms, resolve));
  }
}
