/** The placement groups of a simulated context: creates them, runs tasks in them, and removes them. */
import type { JobContext, PlacementGroup } from "../../../runtime/tasks/index.js";
import type { TaskBook } from "./task-book.js";
import type { TaskPlan } from "./task-plan.js";

const strategies = ["pack", "spread", "strictPack", "strictSpread"] as const;
const expectedWithFaults = /^(?:SupervisionError|ResourceUnavailableError|ActorError|DeliveryError)$/;

export class GroupSteps {
  readonly #book: TaskBook;
  readonly #context: JobContext;
  readonly #groups: PlacementGroup<"bundles">[] = [];
  readonly #underWay = new Set<Promise<void>>();
  #isClosed = false;

  constructor(book: TaskBook, context: JobContext) {
    this.#book = book;
    this.#context = context;
  }

  /** Creates a group, runs a task in one, or removes one. */
  step(n: number, chance: number, plan: TaskPlan): void {
    const group = this.#groups[0];
    if (group === undefined) this.#create(1 + (n % 2), strategies[Math.floor(chance * strategies.length)]!);
    else if (chance < 0.7) this.#run(group, plan);
    else this.#remove(group);
  }

  /** The context is being closed: what is under way fails. */
  close(): void {
    this.#isClosed = true;
  }

  /** Removes all groups, and waits until what is under way has ended. */
  async end(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
    for (const group of [...this.#groups]) this.#remove(group);
    await Promise.all(this.#underWay);
  }

  #create(bundles: number, strategy: (typeof strategies)[number]): void {
    const resources = Array.from({ length: bundles }, () => ({ slots: 1 }));
    this.#follow(
      "creation of a group",
      this.#context
        .placementGroup(resources, { strategy, timeout: 2000 })
        .then((group) => void this.#groups.push(group)),
    );
  }

  /** Only tasks without children can be in a group whose bundles have no processors. */
  #run(group: PlacementGroup, plan: TaskPlan): void {
    if (plan.children.length > 0) return;
    this.#book.start(this.#context, { ...plan, needs: "slot" }, { placement: group });
  }

  #remove(group: PlacementGroup<"bundles">): void {
    this.#groups.splice(this.#groups.indexOf(group), 1);
    this.#follow("removal of a group", group.remove());
  }

  #follow(label: string, work: Promise<void>): void {
    const done = work.catch((error: Error) => {
      if (this.#isClosed || error.name === "TimeoutError") return;
      // Two bundles do not fit apart on one host.
      if (error.name === "ResourceUnavailableError" && /strictSpread/.test(error.message)) return;
      if (!this.#book.calm && expectedWithFaults.test(error.name)) return;
      this.#book.violation(`${label} failed with ${error.name}: ${error.message}`);
    });
    this.#underWay.add(done);
    void done.then(() => this.#underWay.delete(done));
  }
}
