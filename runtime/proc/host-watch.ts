/**
 * Watches hosts on behalf of a driver, from a process beside it that runs no code of users: so a driver that is busy, or was
 * stopped, is not taken for dead, and a host that is busy neither. Each beat is a question to the driver's agent on a host; as
 * long as they come, the host knows that the driver's machine is there. What is done about a host that is gone is the driver's
 * concern.
 */
import { type HostAgentMesh, hostAgentDescriptor } from "../../generated/host-agent.js";
import type { HostWatchOrder } from "../../generated/proc-agent.js";
import { MeshRecord } from "../actor/address.js";
import { ActorError } from "../actor/errors.js";
import { makeMesh } from "../actor/mesh.js";
import type { Proc } from "../actor/proc.js";
import { MeshView } from "../actor/view.js";
import { AGENT_MESH, type ProcId } from "../link/address.js";
import { HandshakeError } from "../link/handshake/errors.js";
import { parseNetworkAddress } from "../link/network-address.js";
import { wholeRegion } from "../shape/index.js";
import { asRoot } from "./agents.js";
import { connectToHost } from "./host-connection.js";
import type { Platform } from "./platform.js";
import { Silence } from "./silence.js";

/** Beats in the time after which a silent host counts as gone. */
const beatsInSilence = 6;

/** How long hosts may take to hear that the driver has ended, in ms: they find out by themselves, only later. */
const farewell = 400;

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
  readonly #proc: Proc;
  readonly #platform: Platform;
  readonly #order: HostWatchOrder;
  readonly #agent: HostAgentMesh;
  readonly #gone: (reason: string) => void;
  /** Between beats, in ms. */
  readonly #pause: number;
  readonly #silence: Silence;
  #stopped = false;
  #failure = "it does not answer";

  constructor(proc: Proc, platform: Platform, order: HostWatchOrder, gone: (reason: string) => void) {
    this.#proc = proc;
    this.#platform = platform;
    this.#order = order;
    this.#gone = gone;
    this.#pause = Math.max(10, order.silence / beatsInSilence);
    const record = new MeshRecord({ id: AGENT_MESH, name: "host", owner: order.host, extent: {} });
    record.locate(0, { proc: order.host, location: "" });
    this.#agent = makeMesh(new MeshView(record, hostAgentDescriptor, wholeRegion({}))) as unknown as HostAgentMesh;
    this.#silence = new Silence(platform.clock, order.silence, () => {
      this.#end(`it has not been heard of for ${order.silence} ms: ${this.#failure}`);
    });
    void this.#beat();
  }

  stop(): void {
    this.#stopped = true;
    this.#silence.stop();
    this.#disconnect("it is not watched any more");
  }

  async driverEnded(reason: string): Promise<void> {
    this.#silence.stop();
    this.#stopped = true;
    if (this.#proc.routes.existing(this.#order.host) === undefined) return;
    await this.#ask((agent) => agent.driverEnded.with({ timeout: farewell }).callOne(reason)).catch(() => {});
  }

  /** One beat after another, over one connection for as long as they are answered in time. */
  async #beat(): Promise<void> {
    const { clock } = this.#platform;
    while (!this.#stopped) {
      try {
        await this.#connected();
        await this.#ask((agent) => agent.beat.with({ timeout: 2 * this.#pause }).callOne());
        this.#silence.heard();
      } catch (error) {
        if (this.#stopped) return;
        const why = error instanceof Error ? error.message : String(error);
        if (isCertain(error)) return this.#end(why);
        this.#failure = why;
        // What is left of the connection may be of no use for longer than the host is out of reach.
        this.#disconnect(why);
      }
      if (!this.#stopped) await new Promise<void>((resolve) => clock.after(this.#pause, resolve));
    }
  }

  async #connected(): Promise<void> {
    const { host, address, proof } = this.#order;
    if (this.#proc.routes.existing(host) !== undefined) return;
    const target = { address: parseNetworkAddress(address), proof, agent: host };
    const pipe = await connectToHost(this.#platform, this.#proc, target, 2 * this.#pause);
    if (this.#stopped) pipe.destroy();
    else this.#proc.attach(pipe, host);
  }

  #disconnect(why: string): void {
    const link = this.#proc.routes.existing(this.#order.host);
    if (link !== undefined) this.#proc.peerDown(this.#order.host, why);
  }

  #end(reason: string): void {
    if (this.#stopped) return;
    this.stop();
    this.#gone(reason);
  }

  #ask<T>(send: (agent: HostAgentMesh) => T): T {
    return asRoot(this.#proc, () => send(this.#agent));
  }
}

/** The host has answered, and what it has said is that it does not know this driver: no other answer will follow. */
function isCertain(error: unknown): boolean {
  return error instanceof ActorError || (error instanceof HandshakeError && !error.passing);
}
