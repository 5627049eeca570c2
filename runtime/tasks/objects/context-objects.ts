/** The stores and records of the contexts that are open in this process. Members of one context on one event loop share a store. */
import type { ObjectLimits, ObjectUsage, WorkerOptions } from "../../../generated/tasks.js";
import { canSealMemory, currentRuntime, mainClock } from "../kernel.js";
import { limitsOfHost } from "./object-limits.js";
import { type BlockingClock, ObjectStore } from "./object-store.js";
import { UsageRecord } from "./usage-record.js";

interface OpenStore {
  readonly store: ObjectStore;
  users: number;
}

const stores = new Map<string, OpenStore>();
/** The records that this process has made. */
const records = new Map<string, { readonly record: UsageRecord; users: number }>();

/** Returns whether large values of this process are in the memory of the machine. */
export function storesValues(): boolean {
  // Simulated processes share one real process, and their memory is not that of a machine.
  return currentRuntime().platform.simulatedMemory === undefined && canSealMemory();
}

/** Returns the record of a context on this host, which this process makes. `closeRecord` must follow. Undefined: values are not stored. */
export function openRecord(context: string, limits: ObjectLimits): UsageRecord | undefined {
  if (!storesValues()) return undefined;
  let known = records.get(context);
  if (known === undefined) {
    known = { record: UsageRecord.make(context, limitsOfHost(limits)), users: 0 };
    records.set(context, known);
  }
  known.users++;
  return known.record;
}

export function closeRecord(context: string): void {
  const known = records.get(context);
  if (known === undefined || --known.users > 0) return;
  records.delete(context);
  known.record.close();
}

/** The parts of the options of a worker that concern its values. */
export type WorkerObjects = Pick<WorkerOptions, "objects" | "objectRecord" | "objectSlot">;

/**
 * Returns the store of a context in this process. `closeStore` must follow. Undefined: values are not stored.
 *
 * @throws Error if the folder of the options does not exist
 */
export function openStore(context: string, options: WorkerObjects): ObjectStore | undefined {
  if (!storesValues()) return undefined;
  let known = stores.get(context);
  if (known === undefined) {
    known = { store: makeStore(context, options), users: 0 };
    stores.set(context, known);
  }
  known.users++;
  return known.store;
}

export function closeStore(context: string): void {
  const known = stores.get(context);
  if (known === undefined || --known.users > 0) return;
  stores.delete(context);
  known.store.close();
}

/** Takes a slot in a record for a worker. Returns what the worker is told of it. */
export function slotIn(record: UsageRecord | undefined): WorkerObjects {
  const objectSlot = record?.path === undefined ? undefined : record.take();
  return objectSlot === undefined ? {} : { objectRecord: record!.path!, objectSlot };
}

function makeStore(
  context: string,
  { objects = { whenFull: "wait" }, objectRecord, objectSlot }: WorkerObjects,
): ObjectStore {
  const limits = limitsOfHost(objects);
  const own = records.get(context)?.record;
  const ownSlot = own?.take();
  if (own !== undefined && ownSlot !== undefined) {
    return new ObjectStore({ limits, record: own, slot: own.slot(ownSlot), clock });
  }
  const shared = objectRecord === undefined ? undefined : UsageRecord.open(objectRecord, context);
  if (shared !== undefined && objectSlot !== undefined) {
    return new ObjectStore({ limits, record: shared, slot: shared.slot(objectSlot), clock });
  }
  // The process is not on the host of the record, or the record has no more slots.
  const record = UsageRecord.make(context, limits);
  return new ObjectStore({ limits, record, slot: record.slot(record.take()!), clock });
}

/** Nobody wakes who waits for it. */
const sleeper = new Int32Array(new SharedArrayBuffer(4));

const clock: BlockingClock = {
  now: () => mainClock().now(),
  block: (milliseconds) => void Atomics.wait(sleeper, 0, 0, milliseconds),
};

/** Returns the use of memory and disk by all processes of a host. */
export function usageOf(record: UsageRecord): ObjectUsage {
  record.clearEnded();
  const { memory, disk, values, spilled } = record.total;
  const { memory: memoryLimit, disk: diskLimit } = record.limits;
  return { memory, memoryLimit, disk, diskLimit, values, spilled };
}
