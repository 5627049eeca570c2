/**
 * Transport `verbs`: an RDMA device of this machine reads and writes memory of another, through the device of that one, and neither
 * process does anything for it. Bounds, rights and the end of a grant are enforced by the owner's device. The owner's event loop is needed
 * once for each buffer, when it is opened, and when a connection has broken.
 */
import type { GrantClaim } from "../../../generated/rdma.js";
import type { Clock } from "../../link/clock.js";
import type { RdmaAddon } from "../../native/rdma-addon.js";
import type { Ask, Backend, Opened } from "../backend.js";
import { RdmaError } from "../errors.js";
import type { Grant } from "../grant.js";
import { claimOf, type Handle } from "../handle.js";
import type { Operation } from "../operation.js";
import type { Grants } from "../table.js";
import { Connection, type Way } from "./connection.js";
import { Devices } from "./devices.js";
import { decodePorts, encodeAnswer, encodePorts } from "./messages.js";
import { Owner } from "./owner.js";
import { nearest } from "./ports.js";
import { transfer } from "./transfer.js";

/** How long a connection that no buffer uses is kept, in ms. */
const idle = 10_000;

interface Shared {
  readonly connection: Connection;
  users: number;
}

export class VerbsBackend implements Backend {
  readonly transport = "verbs";
  readonly oneSided = true;
  readonly #addon: RdmaAddon | undefined;
  readonly #clock: Clock;
  readonly #devices: Devices | undefined;
  readonly #owner: Owner | undefined;
  /** By process and port of the owner. */
  readonly #connections = new Map<string, Shared>();
  #why: string | undefined | null = null;

  /** @param only `device` or `device:port`, as VICEROY_RDMA_DEVICE says: no other is used */
  constructor(
    addon: RdmaAddon | undefined,
    grants: Grants,
    clock: Clock,
    only: string | undefined = process.env["VICEROY_RDMA_DEVICE"] || undefined,
  ) {
    this.#addon = addon;
    this.#clock = clock;
    if (addon === undefined) return;
    this.#devices = new Devices(addon, clock, only);
    this.#owner = new Owner(this.#devices, grants);
  }

  unavailable(): string | undefined {
    if (this.#why === null) this.#why = this.#whyNot();
    return this.#why;
  }

  #whyNot(): string | undefined {
    if (this.#addon === undefined || this.#devices === undefined) return "there is no addon";
    if (this.#devices.ports.length === 0) return "this machine has no RDMA port that is up";
    const missing = this.#addon.verbsMissing();
    return missing === undefined ? undefined : `libibverbs is missing: ${missing}`;
  }

  granted(): Uint8Array | undefined {
    return encodePorts(this.#devices?.ports ?? []);
  }

  async revoked(grant: Grant): Promise<void> {
    await this.#owner?.revoked(grant);
  }

  async answer(request: Uint8Array): Promise<Uint8Array> {
    const why = this.unavailable();
    return why === undefined && this.#owner !== undefined
      ? this.#owner.answer(request)
      : encodeAnswer({ why: why ?? "" });
  }

  async open(handle: Handle, ask: Ask, signal: AbortSignal): Promise<Opened | undefined> {
    const part = handle.parts.verbs;
    if (part === undefined || this.#devices === undefined || this.unavailable() !== undefined) return undefined;
    const shared = this.#shared(this.#devices, handle, part);
    if (shared === undefined) return undefined;
    shared.users++;
    try {
      const claim = claimOf(handle);
      const way = await shared.connection.reach(claim, ask, "open", signal);
      return new Reached(shared.connection, claim, ask, way, () => this.#left(shared));
    } catch (error) {
      this.#left(shared);
      if (signal.aborted || error instanceof RdmaError) throw error;
      return undefined;
    }
  }

  #shared(devices: Devices, { process: name }: Handle, part: Uint8Array): Shared | undefined {
    const ways = nearest(devices.ports, decodePorts(part));
    if (ways === undefined) return undefined;
    const { our, their } = ways;
    const key = [
      name.machine,
      name.pid,
      name.started,
      our.device,
      our.port,
      Buffer.from(their.gid).toString("hex"),
    ].join();
    let shared = this.#connections.get(key);
    if (shared === undefined) {
      shared = { connection: new Connection(devices, our, their.gid), users: 0 };
      this.#connections.set(key, shared);
    }
    return shared;
  }

  #left(shared: Shared): void {
    shared.users--;
    if (shared.users > 0) return;
    this.#clock.after(idle, () => {
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

/** Granted memory that has been reached, and is reached again after its connection has broken. */
class Reached implements Opened {
  readonly #connection: Connection;
  readonly #claim: GrantClaim;
  readonly #ask: Ask;
  readonly #left: () => void;
  #way: Way;
  #closed = false;

  constructor(connection: Connection, claim: GrantClaim, ask: Ask, way: Way, left: () => void) {
    this.#connection = connection;
    this.#claim = claim;
    this.#ask = ask;
    this.#way = way;
    this.#left = left;
  }

  get way(): Way | undefined {
    return this.#way.pair.broken ? undefined : this.#way;
  }

  /** @throws RdmaError; whatever else goes wrong means that the owner is not reached */
  async anew(operation: Operation): Promise<Way> {
    const controller = new AbortController();
    operation.onCancel(() => controller.abort());
    const what = `${operation.direction} ${operation.bytes} bytes`;
    try {
      this.#way = await this.#connection.reach(this.#claim, this.#ask, what, controller.signal);
      return this.#way;
    } catch (error) {
      if (error instanceof RdmaError || operation.cancelled) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw new RdmaError("ERR_RDMA_PEER_GONE", `cannot ${what}: the owner is not reached: ${why}`, { cause: error });
    }
  }

  transfer(operation: Operation): Promise<void> {
    return transfer(operation, this);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#left();
  }
}
