/**
 * The model of the references of a simulated context: which processes hold which values. It checks that a value is there as long as a
 * process holds it, and that its owner frees it afterwards. All simulated processes share the model, because they share one heap.
 */
import type { JobContext } from "../../../runtime/tasks/index.js";
import type { ProcessView } from "../../../runtime/testing/index.js";
import { type Content, type Hold, type Parcel, SharedValue } from "./shared-value.js";
import type { TaskBook } from "./task-book.js";

/** A value that a process keeps after the task that has got it. */
interface Shelved {
  readonly process: ProcessView;
  readonly parcel: Parcel;
}

export class ReferenceBook {
  readonly #book: TaskBook;
  readonly #values: SharedValue[] = [];
  readonly #shelf = new Set<Shelved>();
  /** The values to which others refer, by the number of the value that contains the reference, each with the hold of its owner. */
  readonly #contents = new Map<number, { readonly value: SharedValue; readonly hold: Hold }>();
  /** The time at which a process has let go of a value for the last time. */
  #changedAt = 0;
  #isWatching = false;
  #reading = 0;

  constructor(book: TaskBook) {
    this.#book = book;
  }

  value(id: number): SharedValue {
    return this.#values[id]!;
  }

  /** Puts a value, which may contain a reference to another one, and holds it. */
  put(context: JobContext, inner?: Parcel): { readonly parcel: Parcel; readonly hold: Hold } {
    const { process, simulation } = this.#book;
    const id = this.#values.length;
    const ref = context.put<Content>({ id, inner });
    const value = new SharedValue(id, process, ref);
    this.#values.push(value);
    simulation.note(`v${id} is put by ${process.name}${inner === undefined ? "" : ` and refers to v${inner.id}`}`);
    if (inner !== undefined) {
      const other = this.value(inner.id);
      this.#contents.set(id, { value: other, hold: other.hold(process, `v${id} refers to it`) });
    }
    return { parcel: { id, ref }, hold: value.hold(process, "it has put it") };
  }

  /** A process that lives has got a reference. */
  got({ id, ref }: Parcel): void {
    this.value(id).got(this.#book.process, ref);
  }

  letGo(id: number, hold: Hold): void {
    this.#changedAt = this.#book.simulation.now;
    void this.#watch();
    this.#book.simulation.note(`v${id} is let go by ${hold.process.name}`);
    this.value(id).letGo(hold);
  }

  /** Reads a value that this process holds. Returns the reference in it, if there is one, which this process holds then. */
  async read({ id, ref }: Parcel): Promise<{ readonly parcel: Parcel; readonly hold: Hold } | undefined> {
    const { process } = this.#book;
    const value = this.value(id);
    // A release by another task of this process must not concern the reference that comes now.
    const inner = this.#contents.get(id)?.value;
    const hold = inner?.hold(process, `it reads v${id}`);
    const own = value.hold(process, "it reads it");
    this.#reading++;
    try {
      const content = await ref.get();
      if (content.id !== id) this.#book.violation(`a reader of v${id} got the value v${content.id}`);
      if (content.inner?.id !== inner?.id)
        this.#book.violation(`v${id} got the value with v${content.inner?.id} inside`);
      if (content.inner === undefined || hold === undefined) return undefined;
      this.got(content.inner);
      return { parcel: content.inner, hold };
    } catch (error) {
      if (inner !== undefined) this.letGo(inner.id, hold!);
      this.#failed(value, error as Error);
      return undefined;
    } finally {
      this.letGo(id, own);
      this.#reading--;
    }
  }

  /** Keeps a value in this process for a while. */
  keep(parcel: Parcel, hold: Hold, ms: number): void {
    const shelved: Shelved = { process: hold.process, parcel };
    this.#shelf.add(shelved);
    void this.#book.simulation.sleep(ms).then(() => {
      this.#shelf.delete(shelved);
      this.letGo(parcel.id, hold);
    });
  }

  /** Returns a value that this process keeps. */
  kept(n: number): Parcel | undefined {
    const { process } = this.#book;
    const own = [...this.#shelf].filter((shelved) => shelved.process === process);
    return own[n % Math.max(1, own.length)]?.parcel;
  }

  /** Frees values as soon as possible after a process has let go of one: messages that have to come before are under way only for a moment. */
  async #watch(): Promise<void> {
    if (this.#isWatching) return;
    this.#isWatching = true;
    const { simulation } = this.#book;
    while (simulation.now - this.#changedAt < 1) {
      await simulation.sleep(0.02);
      this.collect();
    }
    this.#isWatching = false;
  }

  /** Frees the values that their owners do not need any more, and checks that nobody else does. */
  collect(): void {
    if (this.#book.isClosing) return;
    for (const value of this.#values) {
      const { id, owner } = value;
      if (value.isFreed || value.isLost || value.isHeldBy(owner) || value.isKept) continue;
      this.#book.simulation.note(`v${id} is freed`);
      for (const { process, why } of value.holds) {
        if (this.#isCutOff(process, owner)) continue;
        this.#book.violation(`v${id} was freed while it was held by ${process.name}, because ${why}`);
      }
      value.free();
      const inner = this.#contents.get(id);
      if (inner !== undefined) inner.value.letGo(inner.hold);
    }
  }

  /** Whether processes still hold values, or values are still there. */
  get isOver(): boolean {
    return this.#reading === 0 && this.leaks.length === 0;
  }

  /** The values that are still there, with the reasons. */
  get leaks(): string[] {
    return this.#values
      .filter(({ isFreed, isLost }) => !isFreed && !isLost)
      .map(({ id, owner, holds }) => {
        const by = holds.map(({ process, why }) => `${process.name} because ${why}`).join(", ");
        return by === "" ? `v${id} was never freed by ${owner.name}` : `v${id} is still held by ${by}`;
      });
  }

  /** Whether processes may take each other for ended: a host that cannot be reached for long counts as one that has ended. */
  #isCutOff(one: ProcessView, other: ProcessView): boolean {
    if (one.host === other.host) return false;
    return this.#book.simulation.faults.some(({ kind }) =>
      /^(?:pause|pause-host|cut|partition|crash-host)$/.test(kind),
    );
  }

  #failed({ id, owner, isFreed, isLost }: SharedValue, error: Error): void {
    const { isClosing, process } = this.#book;
    if (isClosing || isFreed) return;
    if (error.name === "ObjectLostError") {
      if (isLost) return;
      if (this.#isCutOff(process, owner) && /the process that had it has ended/.test(error.message)) return;
    }
    if (/was cancelled|the worker process ends/.test(error.message)) return;
    this.#book.violation(`a read of v${id} failed with ${error.name}: ${error.message}`);
  }
}
