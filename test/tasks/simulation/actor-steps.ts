/** The actors of a simulated context: creates, calls and stops them, and checks the answers. */
import type { ActorHandle, JobContext, ObjectRef } from "../../../runtime/tasks/index.js";
import { recordOf } from "../../../runtime/tasks/refs/object-ref.js";
import { Tally } from "./tally.js";
import type { TaskBook } from "./task-book.js";

/** Errors of creations and calls in runs with faults. In calm runs, only the last is expected. */
const expectedWithFaults =
  /^(?:WorkerLostError|HostLostError|SupervisionError|ResourceUnavailableError|TimeoutError|TaskError)$/;

interface Called {
  readonly label: string;
  readonly ref: ObjectRef<number>;
}

export class ActorSteps {
  readonly #book: TaskBook;
  readonly #context: JobContext;
  readonly #handles = new Map<string, ActorHandle<typeof Tally>>();
  readonly #creations = new Set<Promise<void>>();
  readonly #calls: Called[] = [];
  /** The names under which actors have been stopped. */
  readonly #stopped = new Set<string>();
  #isClosed = false;

  constructor(book: TaskBook, context: JobContext) {
    this.#book = book;
    this.#context = context;
  }

  /** Creates an actor, or finds it. */
  create(name: string, slots: number, restarts: number): void {
    const resources = slots === 0 ? {} : { slots };
    const options = { name, getIfExists: true, restarts, resources };
    const creation = this.#context.actor(Tally, [name, slots] as never, options).then(
      (handle) => void this.#handles.set(name, handle),
      (error: Error) => this.#failed(`creation of actor ${name}`, error),
    );
    this.#creations.add(creation);
    void creation.then(() => this.#creations.delete(creation));
  }

  /** Calls an actor several times. Its answers count up. */
  call(name: string, times: number): void {
    const handle = this.#handles.get(name) as unknown as { add: { run(call: number): ObjectRef<number> } } | undefined;
    if (handle === undefined) return;
    let before = 0;
    for (let i = 0; i < times; i++) {
      const label = `call ${this.#calls.length} of actor ${name}`;
      let ref: ObjectRef<number>;
      try {
        ref = handle.add.run(this.#calls.length);
      } catch (error) {
        this.#failed(label, error as Error);
        return;
      }
      this.#calls.push({ label, ref });
      const { result } = recordOf(ref);
      result.whenSettled(() => {
        if (result.error !== undefined) {
          // A handle can be that of an actor that is being stopped.
          if (result.error.name !== "WorkerLostError" || !this.#stopped.has(name)) this.#failed(label, result.error);
          return;
        }
        const count = recordOf(ref).codec.decode(result.value as Uint8Array) as number;
        if (this.#book.calm && count <= before)
          this.#book.violation(`${label} has the answer ${count} after ${before}`);
        before = count;
      });
    }
  }

  stop(name: string): void {
    this.#handles.delete(name);
    this.#stopped.add(name);
    const stopped = this.#context.stopActor(name).then(
      () => {},
      (error: Error) => this.#failed(`stop of actor ${name}`, error),
    );
    this.#creations.add(stopped);
    void stopped.then(() => this.#creations.delete(stopped));
  }

  /** The context is being closed: what is under way fails. */
  close(): void {
    this.#isClosed = true;
  }

  /** Stops all actors, and waits until what is under way has ended. */
  async end(): Promise<void> {
    for (;;) {
      // Actors can wait for the slots of others.
      for (const name of [...this.#handles.keys()]) this.stop(name);
      if (this.#creations.size === 0) return;
      await Promise.race(this.#creations);
    }
  }

  get unsettled(): string[] {
    return this.#calls.filter(({ ref }) => !ref.isSettled).map(({ label }) => label);
  }

  #failed(label: string, error: Error): void {
    if (this.#isClosed) return;
    // An actor can be stopped while it is called.
    const isStopped = /stopped|no actor|has been stopped/.test(error.message);
    if (isStopped || (!this.#book.calm && expectedWithFaults.test(error.name))) return;
    this.#book.violation(`${label} failed with ${error.name}: ${error.message}`);
  }
}
