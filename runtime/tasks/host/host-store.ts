/** The actor with the large values of one host whose owners are on other hosts. */
import {
  type ObjectPiece,
  type ObjectReference,
  type StoredMemory,
  type StoreOptions,
  type TaskOwnerMesh,
  type TaskRootMesh,
  TaskStoreActor,
  type TaskStoreMesh,
} from "../../../generated/tasks.js";
import { procsOf } from "../../codegen/v1/index.js";
import { currentCell, interruptAtStop, mainClock, NoMessageTurn, runInTurn, runWithoutStorage } from "../kernel.js";
import { bringValue } from "../objects/bring-value.js";
import { closeStore, openStore } from "../objects/context-objects.js";
import type { IncomingValue } from "../objects/incoming-value.js";
import type { ObjectStore } from "../objects/object-store.js";
import { callInTurn, sourcesOf } from "../objects/piece-sources.js";
import { pieceOf } from "../objects/pieces.js";
import { StoredValue } from "../objects/stored-value.js";
import { explainLoss } from "../refs/explain-loss.js";
import { tell } from "../tell.js";

interface Entry {
  /** Undefined while the value is on its way. */
  value: StoredValue | undefined;
  /** Resolves when it is known how large a value on its way is, with the part that is here. Undefined: the value is no longer on its way. */
  incoming: Promise<IncomingValue> | undefined;
  /** The end of the way. */
  arrival: Promise<StoredMemory | null> | undefined;
}

/** The stores of guests on this event loop, by the ids of their contexts. */
export const guestStores = new Map<string, TaskStoreMesh<never>>();

/** @internal */
export class HostStore extends TaskStoreActor {
  readonly #values = new Map<string, Entry>();
  /** The keys of the values of each owner, whose end is awaited. */
  readonly #owners = new Map<bigint, Set<string>>();
  readonly #cell = currentCell();
  /** Undefined: this process is a guest of the context. */
  readonly #place: { readonly root: TaskRootMesh<never>; readonly host: number } | undefined;
  readonly #context: string;
  /** Counts the values. Undefined: this process cannot share memory. */
  readonly #objects: ObjectStore | undefined;
  #self: Promise<TaskStoreMesh<never>> | undefined;
  readonly #left: Promise<void>;
  #leave: () => void = () => {};

  static {
    // The process of a program has the store of its host. Promises cost it less without storage.
    runWithoutStorage(HostStore, ["adopt", "bring", "piece", "has", "drop", "untilLeft"]);
    interruptAtStop(HostStore, ["untilLeft"]);
  }

  constructor({ context, root, host, objects }: StoreOptions) {
    super();
    this.#context = context;
    this.#objects = openStore(context, objects === undefined ? {} : { objects });
    this.#place = root === undefined ? undefined : { root, host };
    this.#left = new Promise((resolve) => {
      this.#leave = resolve;
    });
  }

  adopt(owner: TaskOwnerMesh<never>, id: number, memory: StoredMemory): StoredMemory | null {
    const opened = StoredValue.open(memory, this.#objects);
    if (opened === undefined) return null;
    opened.count();
    this.#add(owner, id, { value: opened, incoming: undefined, arrival: undefined });
    return opened.memory!;
  }

  async bring(reference: ObjectReference): Promise<StoredMemory | null> {
    if (this.#objects === undefined) return null;
    const { owner, id } = reference;
    const known = this.#values.get(keyOf(procsOf(owner)[0]!, id));
    if (known !== undefined) return known.value?.memory ?? known.arrival ?? null;
    const entry: Entry = { value: undefined, incoming: undefined, arrival: undefined };
    this.#add(owner, id, entry);
    entry.arrival = this.#bring(reference, entry);
    return entry.arrival;
  }

  /** Brings a value that nobody else brings. If it cannot be shared here, readers get it for themselves. */
  async #bring({ owner, id, label }: ObjectReference, entry: Entry): Promise<StoredMemory | null> {
    let begun: (value: IncomingValue) => void = () => {};
    let failed: (error: Error) => void = () => {};
    entry.incoming = new Promise((resolve, reject) => {
      begun = resolve;
      failed = reject;
    });
    entry.incoming.catch(() => {});
    try {
      const self = await this.#ownMesh();
      const source = sourcesOf({ owner, id, reader: self, inTurn: this.#inTurn });
      const value = await bringValue({ label, clock: mainClock(), source, begun, keeper: this.#objects });
      if (!(value instanceof StoredValue)) {
        this.#forget(procsOf(owner)[0]!, id, entry);
        return null;
      }
      // The value was dropped meanwhile, or its host has made it again, so that it is here already.
      if (entry !== this.#values.get(keyOf(procsOf(owner)[0]!, id))) return value.memory!;
      entry.value = value;
      value.count();
      this.#inTurn(() => tell(owner, () => owner.copied.broadcast(id, self)));
      return value.memory!;
    } catch (error) {
      this.#forget(procsOf(owner)[0]!, id, entry);
      failed(error as Error);
      throw explainLoss(label, error as Error);
    } finally {
      entry.incoming = undefined;
    }
  }

  async piece(owner: bigint, id: number, index: number): Promise<ObjectPiece> {
    const entry = this.#values.get(keyOf(owner, id));
    if (entry?.value !== undefined) return pieceOf(entry.value, index);
    if (entry?.incoming !== undefined) return (await entry.incoming).piece(index);
    throw new Error(`cannot read result ${id} of process ${owner}: ${this.#name} does not have it any more`);
  }

  has(owner: bigint, id: number): boolean {
    return this.#values.has(keyOf(owner, id));
  }

  drop(owner: bigint, id: number): void {
    const entry = this.#values.get(keyOf(owner, id));
    if (entry === undefined) return;
    this.#forget(owner, id, entry);
    entry.value?.close();
  }

  untilLeft(): Promise<void> {
    return this.#left;
  }

  override cleanup(): void {
    this.#leave();
    for (const { value } of this.#values.values()) value?.close();
    this.#values.clear();
    closeStore(this.#context);
  }

  #add(owner: TaskOwnerMesh<never>, id: number, entry: Entry): void {
    const proc = procsOf(owner)[0]!;
    const key = keyOf(proc, id);
    this.#values.get(key)?.value?.close();
    this.#values.set(key, entry);
    const keys = this.#owners.get(proc);
    if (keys !== undefined) {
      keys.add(key);
      return;
    }
    this.#owners.set(proc, new Set([key]));
    const ended = () => this.#ownerEnded(proc);
    callInTurn(this.#inTurn, () => owner.untilLeft.callOne()).then(ended, ended);
  }

  #forget(owner: bigint, id: number, entry: Entry): void {
    const key = keyOf(owner, id);
    if (this.#values.get(key) !== entry) return;
    this.#values.delete(key);
    this.#owners.get(owner)?.delete(key);
  }

  /** Frees the values of a process that has ended or left the context. */
  #ownerEnded(owner: bigint): void {
    const keys = this.#owners.get(owner);
    this.#owners.delete(owner);
    for (const key of keys ?? []) {
      this.#values.get(key)?.value?.close();
      this.#values.delete(key);
    }
  }

  get #name(): string {
    return this.#place === undefined ? `process ${process.pid}` : `host ${this.#place.host}`;
  }

  /** The root, or the guest, knows the mesh of this actor. */
  #ownMesh(): Promise<TaskStoreMesh<never>> {
    this.#self ??= this.#findOwnMesh();
    return this.#self;
  }

  async #findOwnMesh(): Promise<TaskStoreMesh<never>> {
    if (this.#place === undefined) return guestStores.get(this.#context)!;
    const { root, host } = this.#place;
    const { hosts } = await callInTurn(this.#inTurn, () => root.describe.callOne());
    return hosts[host]!.store;
  }

  /** Runs code outside of the message that is being handled: it goes on when the caller of the message has ended. */
  readonly #inTurn = (body: () => void): void => {
    runInTurn(new NoMessageTurn(this.#cell), body);
  };
}

function keyOf(owner: bigint, id: number): string {
  return `${owner}/${id}`;
}
