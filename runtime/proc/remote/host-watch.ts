/**
 * Watches hosts for a driver, from a separate process that runs no user code. A driver that is busy or stopped is
 * therefore not taken for dead, and a busy host is not either. Each beat is a call to the driver's agent on a host;
 * while beats arrive, the host knows that the driver's machine is reachable. The driver decides how to react when a
 * host is gone.
 */

import { type HostAgentMesh, hostAgentDescriptor } from "../../../generated/host-agent.js";
import type { HostProof, HostWatchOrder } from "../../../generated/proc-agent.js";
import { errorMessage } from "../../../shared/text/error-message.js";
import { ActorError } from "../../actor/errors.js";
import { makeMesh } from "../../actor/mesh/actor-mesh.js";
import type { Proc } from "../../actor/proc/proc.js";
import { MeshRecord } from "../../actor/reference/mesh-record.js";
import { MeshView } from "../../actor/reference/mesh-view.js";
import { AGENT_MESH, type ProcId } from "../../link/address.js";
import { HandshakeError } from "../../link/handshake/errors.js";
import { parseNetworkAddress } from "../../link/transport/network-address.js";
import { wholeRegion } from "../../shape/index.js";
import type { Platform } from "../platform/platform.js";
import { runAsRoot } from "../proc-agents.js";
import { connectToHost } from "./host-connection.js";
import type { HostKeyring } from "./host-keyring.js";
import { SilenceTimer } from "./silence-timer.js";

/** Number of beats in the time after which a silent host counts as gone. */
const beatsInSilence = 12;
/**
 * Number of attempts to reconnect to a silent host in the same time. After a network failure, the kernel retransmits
 * the data of an old connection late; a new connection succeeds as soon as the network works again.
 */
const attemptsInSilence = 24;
/**
 * Maximum number of parallel attempts to connect, so that a host that does not respond is not flooded. The connection
 * of an attempt must be established within so many retry intervals; after that the host has the whole silence time to
 * answer.
 */
const maxParallelAttempts = 6;

/**
 * Minimum time limit in ms for the first answer. The watching process has just been started, and must still load and
 * connect.
 */
const firstAnswerLimit = 2500;

/**
 * Time limit in ms for telling the hosts that the driver has ended. Hosts that are not reached notice the end by
 * themselves, later.
 */
const farewellLimit = 400;

export class HostWatch {
  readonly #proc: Proc;
  readonly #platform: Platform;
  readonly #keyring: HostKeyring;
  readonly #report: (host: ProcId, reason: string) => void;
  readonly #watched = new Map<ProcId, WatchedHost>();

  /**
   * @param keyring has the credentials for orders that have none
   * @param report called once for each host that is gone
   */
  constructor(proc: Proc, platform: Platform, keyring: HostKeyring, report: (host: ProcId, reason: string) => void) {
    this.#proc = proc;
    this.#platform = platform;
    this.#keyring = keyring;
    this.#report = report;
  }

  watch(order: HostWatchOrder): void {
    if (this.#watched.has(order.host)) return;
    const gone = (reason: string) => {
      this.unwatch(order.host);
      this.#report(order.host, reason);
    };
    const proof = () => order.proof ?? this.#keyring.own;
    this.#watched.set(order.host, new WatchedHost(this.#proc, this.#platform, order, proof, gone));
  }

  unwatch(host: ProcId): void {
    this.#watched.get(host)?.stop();
    this.#watched.delete(host);
  }

  /** Tells the hosts that can be reached that the driver has ended. Never rejects. */
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
  readonly #proof: () => HostProof | undefined;
  readonly #onGone: (reason: string) => void;
  /** Time between beats and time between attempts to connect, in ms. */
  readonly #beatInterval: number;
  readonly #retryInterval: number;
  readonly #silence: SilenceTimer;
  /** Time in ms after which the silent host counts as gone. */
  #currentLimit: number;
  /** Time of the last answer of the host. */
  #heardAt: number;
  /** Number of attempts to connect that are in progress. */
  #attempts = 0;
  #stopped = false;
  #lastFailure = "it does not answer";

  constructor(
    proc: Proc,
    platform: Platform,
    order: HostWatchOrder,
    proof: () => HostProof | undefined,
    gone: (reason: string) => void,
  ) {
    this.#proof = proof;
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
    const over = () => this.#declareGone(`it has not answered for ${this.#currentLimit} ms: ${this.#lastFailure}`);
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
    if (this.#watcherProc.routes.existingLink(this.#order.host) === undefined) return;
    await this.#ask((agent) => agent.driverEnded.with({ timeout: farewellLimit }).callOne(reason)).catch(() => {});
  }

  /** Sends a beat or starts an attempt to connect, and schedules the next one. Neither waits for the earlier ones. */
  #beat(): void {
    if (this.#stopped) return;
    const { clock } = this.#platform;
    const linked = this.#watcherProc.routes.existingLink(this.#order.host) !== undefined;
    if (linked) void this.#sendBeat();
    // A busy host does not answer new connections either, so the old link is kept until an attempt succeeds.
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
    const { host, address, silence } = this.#order;
    const proof = this.#proof();
    // The host on which this process runs has not told it its credentials yet.
    if (proof === undefined) return;
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
      // Another attempt was faster, or the existing link works again.
      if (this.#stopped || this.#heardAt >= begun) {
        pipe.destroy();
        return;
      }
      this.#disconnect("it does not answer over its previous link");
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
    const why = errorMessage(error);
    if (isFinal(error)) this.#declareGone(why);
    else this.#lastFailure = why;
  }

  #disconnect(why: string): void {
    const link = this.#watcherProc.routes.existingLink(this.#order.host);
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

/** Returns whether the error is final: the host has answered that it does not know this driver. */
function isFinal(error: unknown): boolean {
  return error instanceof ActorError || (error instanceof HandshakeError && !error.isTransient);
}
