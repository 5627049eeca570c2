/**
 * The owner's side of the transport. It registers granted memory with a device when the first peer requests the memory
 * through this device. Each grant has a region of its own, so that the device enforces the bounds, the rights and the
 * end of the grant. It also creates the owner's queue pairs.
 */

import { errorMessage } from "../../../../shared/text/error-message.js";
import { ownMachineId } from "../../../machine-id.js";
import { accessFlags } from "../../../native/verbs-addon.js";
import type { Grant } from "../../grant/grant.js";
import type { GrantLookup } from "../../grant/grant-table.js";
import type { Refusal } from "../../grant/refusal.js";
import { ownStartTime } from "../../grant/start-time.js";
import type { RdmaDevice, RegisteredRegion } from "./device.js";
import type { OpenRdmaPort, RdmaDevices } from "./devices.js";
import { Heartbeat } from "./heartbeat.js";
import { decodeRequest, encodeAnswer, type QueuePairEnd, type VerbsAnswer, type VerbsRequest } from "./messages.js";
import { QueuePair } from "./queue-pair.js";
import { RecentKeys } from "./recent-keys.js";

/** Maximum number of queue pairs of all peers. */
const maxPairs = 4096;
/** Maximum number of attempts to get a key that was not used recently. */
const maxKeyAttempts = 16;

interface PeerQueuePair {
  /** The number of the request that created the queue pair, counting all requests. */
  readonly serial: number;
  readonly pair: QueuePair;
  readonly heartbeat: Heartbeat;
}

export class VerbsOwner {
  readonly #devices: RdmaDevices;
  readonly #grants: GrantLookup;
  readonly #regions = new Map<Grant, Map<RdmaDevice, Promise<RegisteredRegion>>>();
  readonly #keys = new RecentKeys();
  readonly #pairs = new Map<string, PeerQueuePair>();
  /** Number of queue pairs that are being connected. */
  #connecting = 0;
  #serial = 0;

  constructor(devices: RdmaDevices, grants: GrantLookup) {
    this.#devices = devices;
    this.#grants = grants;
  }

  /** Answers a request. Never rejects: failures are answers, too. */
  async answer(bytes: Uint8Array): Promise<Uint8Array> {
    try {
      return encodeAnswer(await this.#answer(decodeRequest(bytes)));
    } catch (error) {
      return encodeAnswer({ why: errorMessage(error) });
    }
  }

  async #answer(request: VerbsRequest): Promise<VerbsAnswer | Refusal> {
    const serial = ++this.#serial;
    const refusal = this.#findGrant(request);
    if (typeof refusal === "string") return refusal;
    const port = this.#devices.portOf(request.gid);
    if (port === undefined) throw new Error("no such RDMA port is up");
    const open = await this.#devices.open(port);
    const granted = await this.#registerGrant(request, open.device);
    const { connect } = request;
    if (typeof granted === "string" || connect === undefined) return granted;
    const end = await this.#connect(open, serial, Buffer.from(connect.token).toString("hex"), connect.end);
    return { ...granted, end };
  }

  #findGrant({ grant: claim }: VerbsRequest): Grant | Refusal {
    const { slot, generation, nonce0, nonce1 } = claim;
    const grant = this.#grants.find({ slot, generation, nonce: [nonce0, nonce1] });
    if (typeof grant === "string") return grant;
    if (claim.machine !== ownMachineId() || claim.pid !== process.pid || claim.started !== ownStartTime())
      return "stale";
    if (claim.length !== grant.length || claim.writable !== (grant.access === "rw")) return "forged";
    return grant;
  }

  async #registerGrant(request: VerbsRequest, device: RdmaDevice): Promise<VerbsAnswer | Refusal> {
    // The grant is checked again, without waiting afterwards: a later revocation finds the region and deregisters it.
    const grant = this.#findGrant(request);
    if (typeof grant === "string") return grant;
    const { memory, offset, length } = grant;
    if (length === 0) return { address: 0n, key: 0 };
    const regions = this.#regions.get(grant) ?? new Map<RdmaDevice, Promise<RegisteredRegion>>();
    this.#regions.set(grant, regions);
    let registering = regions.get(device);
    if (registering === undefined) {
      const rights =
        accessFlags.remoteRead | (grant.access === "rw" ? accessFlags.remoteWrite | accessFlags.localWrite : 0);
      registering = this.#registerWithNewKey(device, memory.bytes.subarray(offset, offset + length), rights);
      regions.set(device, registering);
      registering.catch(() => regions.delete(device));
    }
    const { address, key } = await registering;
    return { address, key };
  }

  /**
   * Registers memory under a key that was not used recently. Devices reuse keys, and a peer that still has the key of
   * an ended grant must not access another grant.
   */
  async #registerWithNewKey(device: RdmaDevice, view: Uint8Array, rights: number): Promise<RegisteredRegion> {
    const used: RegisteredRegion[] = [];
    for (;;) {
      const region = await device.register(view, rights);
      const isNew = this.#keys.add(region.key);
      if (!isNew && used.length < maxKeyAttempts) used.push(region);
      else {
        await Promise.all(used.map((old) => device.deregister(old)));
        if (isNew) return region;
        await device.deregister(region);
        throw new Error("the device has assigned no unused key");
      }
    }
  }

  async #connect(open: OpenRdmaPort, serial: number, name: string, peer: QueuePairEnd): Promise<QueuePairEnd> {
    if (this.#pairs.size + this.#connecting >= maxPairs) throw new Error(`there are ${maxPairs} queue pairs already`);
    this.#connecting++;
    try {
      const pair = await QueuePair.create(open.device);
      try {
        await pair.connect(peer.pair);
        // Requests that arrived while this process was stopped are handled concurrently; the latest one of a token
        // wins.
        if ((this.#pairs.get(name)?.serial ?? 0) > serial) throw new Error("a later request has replaced it");
      } catch (error) {
        await pair.destroy();
        throw error;
      }
      const heartbeat = new Heartbeat(this.#devices.clock, open, pair, peer.heartbeatTarget, () =>
        this.#endPair(name, held),
      );
      const held: PeerQueuePair = { serial, pair, heartbeat };
      const other = this.#pairs.get(name);
      if (other !== undefined) this.#endPair(name, other);
      this.#pairs.set(name, held);
      return { pair: pair.address, heartbeatTarget: open.device.heartbeatTarget };
    } finally {
      this.#connecting--;
    }
  }

  #endPair(name: string, held: PeerQueuePair): void {
    held.heartbeat.stop();
    if (this.#pairs.get(name) === held) this.#pairs.delete(name);
    held.pair.destroy().catch(() => undefined);
  }

  /** Deregisters a grant from all devices. Rejects if a device fails to deregister it. */
  async deregisterGrant(grant: Grant): Promise<void> {
    for (const [device, registering] of this.#regions.get(grant) ?? []) {
      const region = await registering.catch(() => undefined);
      if (region !== undefined) await device.deregister(region);
    }
    this.#regions.delete(grant);
  }

  close(): void {
    for (const [name, held] of this.#pairs) this.#endPair(name, held);
  }
}
