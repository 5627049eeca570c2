/**
 * The owner's side: registers granted memory with a device when the first peer wants to reach it through that, one region for each
 * grant, so that the device itself knows its bounds, its rights and its end; and answers for the other side of queue pairs.
 */

import { accessFlags } from "../../native/verbs-addon.js";
import type { Grant } from "../grant.js";
import { ownMachine, ownStart } from "../process-name.js";
import type { Refusal } from "../refusal.js";
import type { Grants } from "../table.js";
import type { Device, Region } from "./device.js";
import type { Devices, OpenPort } from "./devices.js";
import { Heartbeat } from "./heartbeat.js";
import { RecentKeys } from "./keys.js";
import { type Answer, decodeRequest, type End, encodeAnswer, type Request } from "./messages.js";
import { Pair } from "./pair.js";

/** Queue pairs of all peers together. */
const mostPairs = 4096;
/** Of getting a key that has not been used before. */
const mostTries = 16;

interface Held {
  /** Of the request that it was made for, among all. */
  readonly serial: number;
  readonly pair: Pair;
  readonly heartbeat: Heartbeat;
}

export class Owner {
  readonly #devices: Devices;
  readonly #grants: Grants;
  readonly #regions = new Map<Grant, Map<Device, Promise<Region>>>();
  readonly #keys = new RecentKeys();
  readonly #pairs = new Map<string, Held>();
  /** Being connected. */
  #coming = 0;
  #serial = 0;

  constructor(devices: Devices, grants: Grants) {
    this.#devices = devices;
    this.#grants = grants;
  }

  /** @throws nothing: what does not work here is an answer, too */
  async answer(bytes: Uint8Array): Promise<Uint8Array> {
    try {
      return encodeAnswer(await this.#answer(decodeRequest(bytes)));
    } catch (error) {
      return encodeAnswer({ why: error instanceof Error ? error.message : String(error) });
    }
  }

  async #answer(request: Request): Promise<Answer | Refusal> {
    const serial = ++this.#serial;
    const refusal = this.#find(request);
    if (typeof refusal === "string") return refusal;
    const port = this.#devices.portOf(request.gid);
    if (port === undefined) throw new Error("no such RDMA port is up");
    const open = await this.#devices.open(port);
    const granted = await this.#region(request, open.device);
    const { connect } = request;
    if (typeof granted === "string" || connect === undefined) return granted;
    const end = await this.#connect(open, serial, Buffer.from(connect.token).toString("hex"), connect.end);
    return { ...granted, end };
  }

  #find({ grant: claim }: Request): Grant | Refusal {
    const { slot, generation, nonce0, nonce1 } = claim;
    const grant = this.#grants.find({ slot, generation, nonce: [nonce0, nonce1] });
    if (typeof grant === "string") return grant;
    if (claim.machine !== ownMachine() || claim.pid !== process.pid || claim.started !== ownStart()) return "stale";
    if (claim.length !== grant.length || claim.writable !== (grant.access === "rw")) return "forged";
    return grant;
  }

  async #region(request: Request, device: Device): Promise<Answer | Refusal> {
    // Once more, and then without waiting for anything: what is revoked from here on finds the region and takes it back.
    const grant = this.#find(request);
    if (typeof grant === "string") return grant;
    const { memory, offset, length } = grant;
    if (length === 0) return { address: 0n, key: 0 };
    const regions = this.#regions.get(grant) ?? new Map<Device, Promise<Region>>();
    this.#regions.set(grant, regions);
    let registering = regions.get(device);
    if (registering === undefined) {
      const rights =
        accessFlags.remoteRead | (grant.access === "rw" ? accessFlags.remoteWrite | accessFlags.localWrite : 0);
      registering = this.#register(device, memory.bytes.subarray(offset, offset + length), rights);
      regions.set(device, registering);
      registering.catch(() => regions.delete(device));
    }
    const { address, key } = await registering;
    return { address, key };
  }

  /** Devices use keys again, and who still has one of a grant that was taken back must not reach another by it. */
  async #register(device: Device, view: Uint8Array, rights: number): Promise<Region> {
    const used: Region[] = [];
    for (;;) {
      const region = await device.register(view, rights);
      const isNew = this.#keys.add(region.key);
      if (!isNew && used.length < mostTries) used.push(region);
      else {
        await Promise.all(used.map((old) => device.deregister(old)));
        if (isNew) return region;
        await device.deregister(region);
        throw new Error("the device has no keys that are new");
      }
    }
  }

  async #connect(open: OpenPort, serial: number, name: string, peer: End): Promise<End> {
    if (this.#pairs.size + this.#coming >= mostPairs) throw new Error(`there are ${mostPairs} queue pairs already`);
    this.#coming++;
    try {
      const pair = await Pair.create(open.device);
      try {
        await pair.connect(peer.pair);
        // Requests that came while this process was stopped are answered side by side: the last one counts.
        if ((this.#pairs.get(name)?.serial ?? 0) > serial) throw new Error("a later request has taken its place");
      } catch (error) {
        await pair.destroy();
        throw error;
      }
      const heartbeat = new Heartbeat(this.#devices.clock, open, pair, peer.beat, () => this.#end(name, held));
      const held: Held = { serial, pair, heartbeat };
      const other = this.#pairs.get(name);
      if (other !== undefined) this.#end(name, other);
      this.#pairs.set(name, held);
      return { pair: pair.name, beat: open.device.beat };
    } finally {
      this.#coming--;
    }
  }

  #end(name: string, held: Held): void {
    held.heartbeat.stop();
    if (this.#pairs.get(name) === held) this.#pairs.delete(name);
    held.pair.destroy().catch(() => undefined);
  }

  /** Resolves when the devices know the grant no more. @throws Error when one does not say so */
  async revoked(grant: Grant): Promise<void> {
    for (const [device, registering] of this.#regions.get(grant) ?? []) {
      const region = await registering.catch(() => undefined);
      if (region !== undefined) await device.deregister(region);
    }
    this.#regions.delete(grant);
  }

  close(): void {
    for (const [name, held] of this.#pairs) this.#end(name, held);
  }
}
