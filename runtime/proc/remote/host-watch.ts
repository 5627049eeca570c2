/**
 * Watches hosts on behalf of a driver, from a process beside it that runs no code of users: so a driver that is busy, or was
 * stopped, is not taken for dead, and a host that is busy neither. Each beat is a question to the driver's agent on a host; as
 * long as they come, the host knows that the driver's machine is there. What is done about a host that is gone is the driver's
 * concern.
 */
import { type HostAgentMesh, hostAgentDescriptor } from "../../../generated/host-agent.js";
import type { HostWatchOrder } from "../../../generated/proc-agent.js";
import { ActorError } from "../../actor/errors.js";
import { makeMesh } from "../../actor/mesh/actor-mesh.js";
import type { Proc } from "../../actor/proc/proc.js";
import { MeshRecord } from "../../actor/reference/mesh-record.js";
import { MeshView } from "../../actor/reference/mesh-view.js";
import { AGENT_MESH, type ProcId } from "../../link/address.js";
import { HandshakeError } from "../../link/handshake/errors.js";
import { parseNetworkAddress } from "../../link/network-address.js";
import { wholeRegion } from "../../shape/index.js";
import type { Platform } from "../platform/platform.js";
import { runAsRoot } from "../proc-agents.js";
import { connectToHost } from "./host-connection.js";
import { SilenceTimer } from "./silence-timer.js";

/** Beats in the time after which a silent host counts as gone. */
const beatsInSilence = 12;
/**
 * Attempts to reach a silent host anew, in the same time. What was sent into a network that is down comes much later, when it is
 * sent again by the kernel; what is begun anew comes as soon as the network is back.
 */
const attemptsInSilence = 24;
/**
 * A connection may take as long as so many attempts are begun in; once it stands, the host may take its time. So many are under
 * way at most: a host that is stuck has no more of them at its door.
 */
const maxParallelAttempts = 6;

/** How long the first answer may take, where less silence is allowed, in ms: this process has just been started, and knows nothing yet. */
const firstAnswerLimit = 2500;

/** How long hosts may take to hear that the driver has ended, in ms: they find out by themselves, only later. */
const farewellLimit = 400;

export class HostWatch {
  readonly #proc: Proc;
  readonly #platform: Platform;
  readonly #report: (host: ProcId, reason: string) => void;
  readonly #watched = new Map<ProcId, WatchedHost>();

  /** @param report told once of each host that is gone */
  constructor(proc: Proc, platform: Platform, report: (host: ProcId, reason: string) => void) {
    this.#proc = proc;
    this.#platform = platform;
    this.#report = report;
  }

  watch(order: HostWatchOrder): void {
    if (this.#watched.has(order.host)) return;
    const gone = (reason: string) => {
      this.unwatch(order.host);
      this.#report(order.host, reason);
    };
    this.#watched.set(order.host, new WatchedHost(this.#proc, this.#platform, order, gone));
  }

  unwatch(host: ProcId): void {
    this.#watched.get(host)?.stop();
    this.#watched.delete(host);
  }

  /** The driver has ended: the hosts are told, as far as they can be reached. Never rejects. */
  async driverEnded(reason: string): Promise<void> {
    const hosts = [...this.#watched.values()];
    this.#watched.clear();
    await Promise.all(hosts.map((host) => host.driverEnded(reason)));
  }
}

class WatchedHost {
  readonly #watcherProc: Proc;
  readonly #platform: Platform;
  readonly #order: HostWatchOrder;
  readonly #agent: HostAgentMesh;
  readonly #onGone: (reason: string) => void;
  /** Between beats, and between attempts to connect, in ms. */
  readonly #beatInterval: number;
  readonly #retryInterval: number;
  readonly #silence: SilenceTimer;
  /** How long the host may say nothing, in ms. */
  #currentLimit: number;
  /** When the host answered last. */
  #heardAt: number;
  /** Attempts to connect that are under way. */
  #attempts = 0;
  #stopped = false;
  #lastFailure = "it does not answer";

  constructor(proc: Proc, platform: Platform, order: HostWatchOrder, gone: (reason: string) => void) {
    this.#watcherProc = proc;
    this.#platform = platform;
    this.#order = order;
    this.#onGone = gone;
    this.#beatInterval = Math.max(10, order.silence / beatsInSilence);
    this.#retryInterval = Math.max(10, order.silence / attemptsInSilence);
    this.#heardAt = platform.clock.now();
    const record = new MeshRecord({ id: AGENT_MESH, name: "host", owner: order.host, extent: {} });
    record.setLocation(0, { proc: order.host, location: "" });
    this.#agent = makeMesh(new MeshView(record, hostAgentDescriptor, wholeRegion({}))) as unknown as HostAgentMesh;
    this.#currentLimit = Math.max(order.silence, firstAnswerLimit);
    const over = () => this.#declareGone(`it has not been heard of for ${this.#currentLimit} ms: ${this.#lastFailure}`);
    this.#silence = new SilenceTimer(platform.clock, order.silence, over, this.#currentLimit);
    this.#beat();
  }

  stop(): void {
    this.#stopped = true;
    this.#silence.stop();
    this.#disconnect("it is not watched any more");
  }

  async driverEnded(reason: string): Promise<void> {
    this.#silence.stop();
    this.#stopped = true;
    if (this.#watcherProc.routes.existing(this.#order.host) === undefined) return;
    await this.#ask((agent) => agent.driverEnded.with({ timeout: farewellLimit }).callOne(reason)).catch(() => {});
  }

  /** Asks, or tries to connect, again and again, whatever has become of what was begun before. */
  #beat(): void {
    if (this.#stopped) return;
    const { clock } = this.#platform;
    const linked = this.#watcherProc.routes.existing(this.#order.host) !== undefined;
    if (linked) void this.#sendBeat();
    // A host that is only busy answers none of the attempts either: until one succeeds, the link goes on.
    const silent = clock.now() - this.#heardAt > 2 * this.#beatInterval;
    if (this.#attempts < (silent ? maxParallelAttempts : linked ? 0 : 1)) void this.#connect();
    clock.after(silent || !linked ? this.#retryInterval : this.#beatInterval, () => this.#beat());
  }

  async #sendBeat(): Promise<void> {
    try {
      await this.#ask((agent) => agent.beat.with({ timeout: this.#order.silence }).callOne());
      this.#recordAnswer();
    } catch (error) {
      this.#recordFailure(error);
    }
  }

  async #connect(): Promise<void> {
    const { host, address, proof, silence } = this.#order;
    const target = { address: parseNetworkAddress(address), proof, agent: host };
    const begun = this.#platform.clock.now();
    this.#attempts++;
    try {
      const pipe = await connectToHost(
        this.#platform,
        this.#watcherProc,
        target,
        silence,
        maxParallelAttempts * this.#retryInterval,
      );
      // Another attempt was faster, or the link that there is has come back to life.
      if (this.#stopped || this.#heardAt >= begun) {
        pipe.destroy();
        return;
      }
      this.#disconnect("it does not answer over the link that there was");
      this.#watcherProc.attach(pipe, host);
      this.#recordAnswer();
      void this.#sendBeat();
    } catch (error) {
      this.#recordFailure(error);
    } finally {
      this.#attempts--;
    }
  }

  #recordAnswer(): void {
    this.#heardAt = this.#platform.clock.now();
    this.#silence.reset();
    this.#currentLimit = this.#order.silence;
  }

  #recordFailure(error: unknown): void {
    if (this.#stopped) return;
    const why = error instanceof Error ? error.message : String(error);
    if (isFinal(error)) this.#declareGone(why);
    else this.#lastFailure = why;
  }

  #disconnect(why: string): void {
    const link = this.#watcherProc.routes.existing(this.#order.host);
    if (link !== undefined) this.#watcherProc.peerDown(this.#order.host, why);
  }

  #declareGone(reason: string): void {
    if (this.#stopped) return;
    this.stop();
    this.#onGone(reason);
  }

  #ask<T>(send: (agent: HostAgentMesh) => T): T {
    return runAsRoot(this.#watcherProc, () => send(this.#agent));
  }
}

/** The host has answered, and what it has said is that it does not know this driver: no other answer will follow. */
function isFinal(error: unknown): boolean {
  return error instanceof ActorError || (error instanceof HandshakeError && !error.passing);
}
