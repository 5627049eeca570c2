/** The references of a simulated context: the program and its tasks put values, pass references on, and let go of them. */
import { type JobContext, task } from "../../../runtime/tasks/index.js";
import type { ProcessView } from "../../../runtime/testing/index.js";
import { Seeded } from "../../../runtime/testing/seeded-random.js";
import { ReferenceBook } from "./reference-book.js";
import { drawReferencePlan, performReferences, type ReferencePlan } from "./reference-task.js";
import type { Hold, Parcel } from "./shared-value.js";
import type { TaskBook } from "./task-book.js";

/** The time in ms in which values are let go after the last step, and freed. Processes can be paused, and notice late that others have ended. */
const longest = 150_000;
const expectedWithFaults = /^(?:WorkerLostError|HostLostError|ObjectLostError|TaskError|TaskCancelledError)$/;
/** The errors of tasks whose process has ended because of another task. */
const expectedAlways =
  /was cancelled and did not end|the worker process ends|its placement group (?:was|has been) removed/;

interface Order {
  readonly plan: ReferencePlan;
  /** The process that gets the result. */
  readonly receiver: ProcessView;
  /** Whether the receiver has a result or an error. */
  isOver: boolean;
  /** The hold of the receiver on what is returned. */
  returned: { readonly hold: Hold; readonly id: number } | undefined;
}

type Held = { readonly parcel: Parcel; readonly hold: Hold };

/** Runs tasks with references, for the program and for tasks. */
export class ReferenceRunner {
  readonly book: TaskBook;
  readonly references: ReferenceBook;
  readonly #orders: Order[] = [];
  readonly #perform;
  underWay = 0;

  constructor(book: TaskBook) {
    this.book = book;
    this.references = new ReferenceBook(book);
    this.#perform = task("simulation:", "references", (order: number, given?: Parcel) =>
      performReferences(this, order, given),
    );
  }

  order(n: number): Order {
    return this.#orders[n]!;
  }

  /** A task is about to return a value, which its receiver holds from now on, unless it does not wait for the task any more. */
  returns(n: number, id: number): void {
    const order = this.order(n);
    if (order.isOver) return;
    order.returned = { hold: this.references.value(id).hold(order.receiver, `it gets it from r${n}`), id };
  }

  /** Runs a task to which a value is passed on. Returns what the task has returned. */
  async run(context: JobContext, plan: ReferencePlan, given?: Held): Promise<Held | undefined> {
    const { book, references } = this;
    const { process } = book;
    const n = this.#orders.length;
    const order: Order = { plan, receiver: process, isOver: false, returned: undefined };
    this.#orders.push(order);
    const value = given === undefined ? undefined : references.value(given.parcel.id);
    const lent = value?.hold(process, `it has passed it to r${n}`);
    book.simulation.note(`r${n} ${JSON.stringify(plan)} ${value === undefined ? "" : `gets v${value.id}`}`);
    this.underWay++;
    const box = given === undefined ? context.run(this.#perform, n) : context.run(this.#perform, n, given.parcel);
    try {
      const parcel = await context.get(box);
      if (parcel === undefined) return undefined;
      references.got(parcel);
      const { hold } = order.returned!;
      order.returned = undefined;
      return { parcel, hold };
    } catch (error) {
      this.#failed(n, error as Error);
      if (order.returned !== undefined) references.letGo(order.returned.id, order.returned.hold);
      return undefined;
    } finally {
      order.isOver = true;
      box.release();
      if (lent !== undefined) references.letGo(value!.id, lent);
      this.underWay--;
    }
  }

  #failed(n: number, error: Error): void {
    const { book } = this;
    if (book.isClosing || (!book.calm && expectedWithFaults.test(error.name))) return;
    if (expectedAlways.test(error.message)) return;
    book.violation(`r${n} failed with ${error.name}: ${error.message}`);
  }
}

/** The random choices of a step, which are drawn before it. */
interface ReferenceDraws {
  readonly what: number;
  readonly n: number;
  readonly plan: ReferencePlan;
}

export class ReferenceSteps {
  readonly #runner: ReferenceRunner;
  readonly #context: JobContext;
  readonly #random: Seeded;
  /** The values that the program holds. */
  readonly #held: Held[] = [];
  #isOver = false;

  constructor(book: TaskBook, context: JobContext) {
    this.#runner = new ReferenceRunner(book);
    this.#context = context;
    // A stream of its own leaves the numbers of the other steps as they are.
    this.#random = new Seeded(book.simulation.seed, "references");
    void this.#collect();
  }

  draw(): ReferenceDraws {
    const random = this.#random;
    const what = random.number();
    return {
      what,
      n: random.int(6),
      plan: drawReferencePlan(random, what < 0.3 ? "make" : what < 0.6 ? "use" : "take"),
    };
  }

  step({ what, n, plan }: ReferenceDraws): void {
    const { references } = this.#runner;
    const held = this.#held[n % Math.max(1, this.#held.length)];
    if (what < 0.3) this.#run(plan);
    else if (what < 0.6) this.#pass(held ?? this.#put(), plan, n % 2 === 0);
    else if (what < 0.7) this.#run(plan);
    else if (what < 0.75) this.#put(held);
    else if (what < 0.8) void this.#read(held);
    else if (what < 0.9 && held !== undefined) this.#letGo(held);
    references.collect();
  }

  /** Lets go of everything, and waits until all values have been freed. */
  async end(): Promise<void> {
    const { references, book } = this.#runner;
    const { simulation } = book;
    for (const end = simulation.now + longest; simulation.now < end; await simulation.sleep(100)) {
      for (const held of [...this.#held]) this.#letGo(held);
      if (this.#runner.underWay === 0 && references.isOver) break;
    }
    this.#isOver = true;
    for (const leak of references.leaks) book.violation(leak);
  }

  close(): void {
    this.#isOver = true;
  }

  #put(inner?: Held): Held {
    const held = this.#runner.references.put(this.#context, inner?.parcel);
    this.#held.push(held);
    return held;
  }

  /** @param letsGo whether only the task needs the value from now on */
  #pass(held: Held, plan: ReferencePlan, letsGo: boolean): void {
    this.#run(plan, held);
    if (letsGo) this.#letGo(held);
  }

  #run(plan: ReferencePlan, given?: Held): void {
    void this.#runner.run(this.#context, plan, given).then((got) => {
      if (got !== undefined) this.#held.push(got);
    });
  }

  async #read(held: Held | undefined): Promise<void> {
    if (held === undefined) return;
    const inner = await this.#runner.references.read(held.parcel);
    if (inner !== undefined) this.#held.push(inner);
  }

  #letGo(held: Held): void {
    this.#held.splice(this.#held.indexOf(held), 1);
    this.#runner.references.letGo(held.parcel.id, held.hold);
  }

  /** Frees values of which processes were the last holders that have ended. */
  async #collect(): Promise<void> {
    const { simulation } = this.#runner.book;
    while (!this.#isOver) {
      this.#runner.references.collect();
      await simulation.sleep(10);
    }
  }
}
