/**
 * Local memory of transfers, which a device must know too. Registering costs a call to the kernel and a walk over the pages, so what
 * is used again and again stays registered for a while; a few bytes go through memory that is registered anyway.
 */
import type { Clock, Timer } from "../../link/clock.js";
import { accessFlags } from "../../native/verbs-addon.js";
import { type Operation, stretchesOf } from "../operation.js";
import type { Device, Region } from "./device.js";
import { type Span, spanOf } from "./pieces.js";

/** Up to this many bytes are copied. */
const smallBytes = 16 << 10;
const smallSlots = 32;
/** What nobody has used for so long, in ms, is given up. */
const idle = 5_000;

/** The local view of an operation, as the device knows it. */
export interface Local {
  readonly region: Region;
  /** Of the region, to which offsets in the view are added; it may be below 0, they are not then. */
  readonly offset: number;
  /** @param arrived a read has succeeded: the bytes are wanted. Call it once, when nothing touches the memory any more */
  release(arrived: boolean): void;
}

interface Entry {
  readonly begin: number;
  readonly end: number;
  readonly region: Promise<Region>;
  users: number;
  used: number;
}

export class Locals {
  readonly #device: Device;
  readonly #clock: Clock;
  /** By buffer, which is never another one at the same address. */
  readonly #entries = new Map<ArrayBufferLike, Entry[]>();
  #small: Promise<Region> | undefined;
  readonly #freeSlots = Array.from({ length: smallSlots }, (_, index) => index * smallBytes);
  #timer: Timer | undefined;

  constructor(device: Device, clock: Clock) {
    this.#device = device;
    this.#clock = clock;
  }

  /** @throws Error when it cannot be registered */
  async take(operation: Operation): Promise<Local> {
    const span = spanOf(operation);
    if (span.end - span.begin <= smallBytes) {
      const slot = this.#freeSlots.pop();
      if (slot !== undefined) return this.#copied(operation, span, slot);
    }
    return this.#registered(operation.local, span);
  }

  async #copied(operation: Operation, { begin }: Span, slot: number): Promise<Local> {
    const { local, direction } = operation;
    const region = await this.#smallRegion().catch((error) => {
      this.#freeSlots.push(slot);
      throw error;
    });
    const offset = slot - begin;
    const bytes = region.view;
    // What lies between the stretches is nobody's business: another transfer may be at work there.
    if (direction === "write") {
      for (const at of stretchesOf(operation))
        bytes.set(local.subarray(at.local, at.local + at.length), offset + at.local);
    }
    const release = (arrived: boolean): void => {
      if (arrived && direction === "read") {
        for (const { local: from, length } of stretchesOf(operation)) {
          local.set(bytes.subarray(offset + from, offset + from + length), from);
        }
      }
      this.#freeSlots.push(slot);
    };
    return { region, offset, release };
  }

  async #smallRegion(): Promise<Region> {
    this.#small ??= this.#device.register(new Uint8Array(smallBytes * smallSlots), accessFlags.localWrite);
    try {
      return await this.#small;
    } catch (error) {
      this.#small = undefined;
      throw error;
    }
  }

  async #registered({ buffer, byteOffset }: Uint8Array, span: Span): Promise<Local> {
    const begin = byteOffset + span.begin;
    const end = byteOffset + span.end;
    const entries = this.#entries.get(buffer) ?? [];
    this.#entries.set(buffer, entries);
    let entry = entries.find((one) => one.begin <= begin && end <= one.end);
    if (entry === undefined) {
      const region = this.#device.register(new Uint8Array(buffer, begin, end - begin), accessFlags.localWrite);
      entry = { begin, end, region, users: 0, used: 0 };
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

  #release(entry: Entry): void {
    entry.users--;
    entry.used = this.#clock.now();
    this.#timer ??= this.#clock.after(idle, () => this.#sweep());
  }

  #sweep(): void {
    this.#timer = undefined;
    const before = this.#clock.now() - idle;
    for (const [buffer, entries] of this.#entries) {
      for (const entry of entries.filter(({ users, used }) => users === 0 && used <= before)) {
        this.#forget(buffer, entry);
        entry.region.then((region) => this.#device.deregister(region)).catch(() => undefined);
      }
    }
    if (this.#entries.size > 0) this.#timer = this.#clock.after(idle, () => this.#sweep());
  }

  #forget(buffer: ArrayBufferLike, entry: Entry): void {
    const left = (this.#entries.get(buffer) ?? []).filter((other) => other !== entry);
    if (left.length > 0) this.#entries.set(buffer, left);
    else this.#entries.delete(buffer);
  }

  close(): void {
    this.#timer?.cancel();
    this.#entries.clear();
  }
}
