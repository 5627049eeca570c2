/** Counts the slots of each host that tasks and actors use in a simulated context. */
import type { ProcessView } from "../../../runtime/testing/index.js";
import type { TaskNeeds } from "./task-plan.js";

/** Something that uses slots until its process ends, or it is over. */
export interface SlotUse {
  readonly label: string;
  readonly process: ProcessView;
  readonly slots: number;
  isOver: boolean;
}

export class ResourceUse {
  /** The slots of each host. */
  readonly slots: number;
  readonly cpus: number;
  readonly #uses = new Map<string, Set<SlotUse>>();

  constructor(cpus: number, slots: number) {
    this.cpus = cpus;
    this.slots = slots;
  }

  /** What each host offers. */
  get total(): { cpus: number; slots: number } {
    return { cpus: this.cpus, slots: this.slots };
  }

  slotsOf(needs: TaskNeeds): number {
    return needs === "cpu" ? 0 : needs === "slot" ? 1 : this.slots;
  }

  amountsOf(needs: TaskNeeds): Record<string, number> {
    return needs === "cpu" ? { cpus: 1 } : { cpus: 0, slots: this.slotsOf(needs) };
  }

  /** Begins to use slots. Returns the use, and the violation if more are in use than there are. */
  take(label: string, process: ProcessView, slots: number): { readonly use: SlotUse; readonly violation?: string } {
    const use: SlotUse = { label, process, slots, isOver: false };
    const { host } = process;
    let uses = this.#uses.get(host);
    if (uses === undefined) {
      uses = new Set();
      this.#uses.set(host, uses);
    }
    uses.add(use);
    let sum = 0;
    for (const one of uses) {
      if (one.isOver || one.process.ended) uses.delete(one);
      else sum += one.slots;
    }
    if (sum <= this.slots) return { use };
    const labels = [...uses].map((one) => one.label).join(", ");
    return { use, violation: `${host} has ${sum} slots in use of ${this.slots}: ${labels}` };
  }
}
