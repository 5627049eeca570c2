/**
 * The registrations of local memory with a device, which transfers need. Registering memory takes a system call and a
 * walk over the pages. Therefore registrations are cached for a while, and short transfers use a permanently registered
 * copy buffer.
 */
import type { Clock, Timer } from "../../../link/clock.js";
import { accessFlags } from "../../../native/verbs-addon.js";
import { segmentsOf, type TransferOperation } from "../../transfer/transfer-operation.js";
import type { RdmaDevice, RegisteredRegion } from "./device.js";
import { type LocalSpan, spanOf } from "./piece-queue.js";

/** Maximum number of bytes of a transfer through the copy buffer, and the number of its slots. */
const smallBytes = 16 << 10;
const smallSlots = 32;
/** Time in ms after which an unused registration is removed. */
const idleLimit = 5_000;

/** The registered memory for the local view of an operation. */
export interface LocalRegion {
  readonly region: RegisteredRegion;
  /** Added to an offset in the view to get an offset in the region. It may be negative; the sum is not. */
  readonly offset: number;
  /**
   * Releases the memory. Must be called once, when the transfer accesses the memory no more.
   * @param arrived whether the transfer has succeeded; the bytes of a read are then copied to the view
   */
  release(arrived: boolean): void;
}

interface RegisteredView {
  readonly begin: number;
  readonly end: number;
  readonly region: Promise<RegisteredRegion>;
  users: number;
  lastUsed: number;
}

export class LocalRegions {
  readonly #device: RdmaDevice;
  readonly #clock: Clock;
  /** Registrations by ArrayBuffer. Unlike addresses, ArrayBuffers are not reused. */
  readonly #entries = new Map<ArrayBufferLike, RegisteredView[]>();
  #copyRegion: Promise<RegisteredRegion> | undefined;
  readonly #freeCopySlots = Array.from({ length: smallSlots }, (_, index) => index * smallBytes);
  #timer: Timer | undefined;

  constructor(device: RdmaDevice, clock: Clock) {
    this.#device = device;
    this.#clock = clock;
  }

  /** Returns registered memory for an operation. Rejects if the memory cannot be registered. */
  async acquire(operation: TransferOperation): Promise<LocalRegion> {
    const span = spanOf(operation);
    if (span.end - span.begin <= smallBytes) {
      const slot = this.#freeCopySlots.pop();
      if (slot !== undefined) return this.#acquireCopy(operation, span, slot);
    }
    return this.#acquireRegistered(operation.local, span);
  }

  async #acquireCopy(operation: TransferOperation, { begin }: LocalSpan, slot: number): Promise<LocalRegion> {
    const { local, direction } = operation;
    const region = await this.#openCopyRegion().catch((error) => {
      this.#freeCopySlots.push(slot);
      throw error;
    });
    const offset = slot - begin;
    const bytes = region.view;
    // Only the segments are copied, because other transfers may use the bytes between them.
    if (direction === "write") {
      for (const at of segmentsOf(operation))
        bytes.set(local.subarray(at.local, at.local + at.length), offset + at.local);
    }
    const release = (arrived: boolean): void => {
      if (arrived && direction === "read") {
        for (const { local: from, length } of segmentsOf(operation)) {
          local.set(bytes.subarray(offset + from, offset + from + length), from);
        }
      }
      this.#freeCopySlots.push(slot);
    };
    return { region, offset, release };
  }

  async #openCopyRegion(): Promise<RegisteredRegion> {
    this.#copyRegion ??= this.#device.register(new Uint8Array(smallBytes * smallSlots), accessFlags.localWrite);
    try {
      return await this.#copyRegion;
    } catch (error) {
      this.#copyRegion = undefined;
      throw error;
    }
  }

  async #acquireRegistered({ buffer, byteOffset }: Uint8Array, span: LocalSpan): Promise<LocalRegion> {
    const begin = byteOffset + span.begin;
    const end = byteOffset + span.end;
    const entries = this.#entries.get(buffer) ?? [];
    this.#entries.set(buffer, entries);
    let entry = entries.find((one) => one.begin <= begin && end <= one.end);
    if (entry === undefined) {
      const region = this.#device.register(new Uint8Array(buffer, begin, end - begin), accessFlags.localWrite);
      entry = { begin, end, region, users: 0, lastUsed: 0 };
      entries.push(entry);
    }
    entry.users++;
    try {
      const region = await entry.region;
      return { region, offset: byteOffset - entry.begin, release: () => this.#release(entry) };
    } catch (error) {
      this.#forget(buffer, entry);
      throw error;
    }
  }

  #release(entry: RegisteredView): void {
    entry.users--;
    entry.lastUsed = this.#clock.now();
    this.#timer ??= this.#clock.after(idleLimit, () => this.#sweep());
  }

  #sweep(): void {
    this.#timer = undefined;
    const before = this.#clock.now() - idleLimit;
    for (const [buffer, entries] of this.#entries) {
      for (const entry of entries.filter(({ users, lastUsed }) => users === 0 && lastUsed <= before)) {
        this.#forget(buffer, entry);
        entry.region.then((region) => this.#device.deregister(region)).catch(() => undefined);
      }
    }
    if (this.#entries.size > 0) this.#timer = this.#clock.after(idleLimit, () => this.#sweep());
  }

  #forget(buffer: ArrayBufferLike, entry: RegisteredView): void {
    const left = (this.#entries.get(buffer) ?? []).filter((other) => other !== entry);
    if (left.length > 0) this.#entries.set(buffer, left);
    else this.#entries.delete(buffer);
  }

  close(): void {
    this.#timer?.cancel();
    this.#entries.clear();
  }
}
