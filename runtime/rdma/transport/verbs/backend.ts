/**
 * Transport `verbs`: an RDMA device of this machine reads and writes memory of another machine through the device
 * there, without the processes. The owner's device enforces bounds, rights and the end of a grant. The owner's event
 * loop is needed when a buffer is opened and after a connection has broken.
 */

import type { GrantClaim } from "../../../../generated/rdma.js";
import { errorMessage } from "../../../../shared/text/error-message.js";
import type { Clock } from "../../../link/clock.js";
import type { RdmaAddon } from "../../../native/rdma-addon.js";
import { RdmaError } from "../../errors.js";
import type { Grant } from "../../grant/grant.js";
import type { GrantLookup } from "../../grant/grant-table.js";
import { grantClaimOf, type MemoryHandle } from "../../grant/memory-handle.js";
import type { TransferOperation } from "../../transfer/transfer-operation.js";
import type { AskOwner, OpenedMemory, TransportBackend } from "../backend.js";
import { RdmaDevices } from "./devices.js";
import { VerbsConnection, type VerbsPath } from "./initiator.js";
import { decodePorts, encodeAnswer, encodePorts } from "./messages.js";
import { VerbsOwner } from "./owner.js";
import { nearestPorts } from "./ports.js";
import { transfer } from "./transfer.js";

/** Time in ms for which an unused connection is kept. */
const idleLimit = 10_000;

interface SharedConnection {
  readonly connection: VerbsConnection;
  users: number;
}

export class VerbsBackend implements TransportBackend {
  readonly transport = "verbs";
  readonly oneSided = true;
  readonly #addon: RdmaAddon | undefined;
  readonly #clock: Clock;
  readonly #devices: RdmaDevices | undefined;
  readonly #owner: VerbsOwner | undefined;
  /** Connections by process and port of the owner. */
  readonly #connections = new Map<string, SharedConnection>();
  #unavailableReason: string | undefined | null = null;

  /** @param only the only device to use, as `device` or `device:port`. Default: the variable `VICEROY_RDMA_DEVICE` */
  constructor(
    addon: RdmaAddon | undefined,
    grants: GrantLookup,
    clock: Clock,
    only: string | undefined = process.env["VICEROY_RDMA_DEVICE"] || undefined,
  ) {
    this.#addon = addon;
    this.#clock = clock;
    if (addon === undefined) return;
    this.#devices = new RdmaDevices(addon, clock, only);
    this.#owner = new VerbsOwner(this.#devices, grants);
  }

  whyUnavailable(): string | undefined {
    if (this.#unavailableReason === null) this.#unavailableReason = this.#findUnavailableReason();
    return this.#unavailableReason;
  }

  #findUnavailableReason(): string | undefined {
    if (this.#addon === undefined || this.#devices === undefined) return "there is no addon";
    if (this.#devices.ports.length === 0) return "this machine has no RDMA port that is up";
    const missing = this.#addon.verbsMissing();
    return missing === undefined ? undefined : `libibverbs is missing: ${missing}`;
  }

  handlePartOf(): Uint8Array | undefined {
    return encodePorts(this.#devices?.ports ?? []);
  }

  async finishRevocation(grant: Grant): Promise<void> {
    await this.#owner?.deregisterGrant(grant);
  }

  async answerPeer(request: Uint8Array): Promise<Uint8Array> {
    const why = this.whyUnavailable();
    return why === undefined && this.#owner !== undefined
      ? this.#owner.answer(request)
      : encodeAnswer({ why: why ?? "" });
  }

  async open(handle: MemoryHandle, ask: AskOwner, signal: AbortSignal): Promise<OpenedMemory | undefined> {
    const part = handle.transportParts.verbs;
    if (part === undefined || this.#devices === undefined || this.whyUnavailable() !== undefined) return undefined;
    const shared = this.#connectionFor(this.#devices, handle, part);
    if (shared === undefined) return undefined;
    shared.users++;
    try {
      const claim = grantClaimOf(handle);
      const path = await shared.connection.openPath(claim, ask, "open", signal);
      return new VerbsMemory(shared.connection, claim, ask, path, () => this.#release(shared));
    } catch (error) {
      this.#release(shared);
      if (signal.aborted || error instanceof RdmaError) throw error;
      return undefined;
    }
  }

  #connectionFor(
    devices: RdmaDevices,
    { process: owner }: MemoryHandle,
    part: Uint8Array,
  ): SharedConnection | undefined {
    const nearest = nearestPorts(devices.ports, decodePorts(part));
    if (nearest === undefined) return undefined;
    const { our, their } = nearest;
    const key = [
      owner.machine,
      owner.pid,
      owner.started,
      our.device,
      our.port,
      Buffer.from(their.gid).toString("hex"),
    ].join();
    let shared = this.#connections.get(key);
    if (shared === undefined) {
      shared = { connection: new VerbsConnection(devices, our, their.gid), users: 0 };
      this.#connections.set(key, shared);
    }
    return shared;
  }

  #release(shared: SharedConnection): void {
    shared.users--;
    if (shared.users > 0) return;
    this.#clock.after(idleLimit, () => {
      if (shared.users > 0) return;
      shared.connection.close();
      for (const [key, other] of this.#connections) if (other === shared) this.#connections.delete(key);
    });
  }

  close(): void {
    for (const { connection } of this.#connections.values()) connection.close();
    this.#connections.clear();
    this.#owner?.close();
    this.#devices?.close();
  }
}

/** The opened memory of a grant. It reconnects after its connection has broken. */
class VerbsMemory implements OpenedMemory {
  readonly #connection: VerbsConnection;
  readonly #claim: GrantClaim;
  readonly #ask: AskOwner;
  readonly #onClose: () => void;
  #path: VerbsPath;
  #closed = false;

  constructor(connection: VerbsConnection, claim: GrantClaim, ask: AskOwner, path: VerbsPath, onClose: () => void) {
    this.#connection = connection;
    this.#claim = claim;
    this.#ask = ask;
    this.#path = path;
    this.#onClose = onClose;
  }

  get path(): VerbsPath | undefined {
    return this.#path.pair.isBroken ? undefined : this.#path;
  }

  /** Opens a new path. @throws RdmaError; any other failure is reported as `ERR_RDMA_PEER_GONE` */
  async reconnect(operation: TransferOperation): Promise<VerbsPath> {
    const controller = new AbortController();
    operation.onCancel(() => controller.abort());
    const what = `${operation.direction} ${operation.bytes} bytes`;
    try {
      this.#path = await this.#connection.openPath(this.#claim, this.#ask, what, controller.signal);
      return this.#path;
    } catch (error) {
      if (error instanceof RdmaError || operation.isCancelled) throw error;
      const why = errorMessage(error);
      throw new RdmaError("ERR_RDMA_PEER_GONE", `cannot ${what}: the owner cannot be reached: ${why}`, {
        cause: error,
      });
    }
  }

  transfer(operation: TransferOperation): Promise<void> {
    return transfer(operation, this);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#onClose();
  }
}
