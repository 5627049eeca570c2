/** The hosts that can run each class of tasks. Finding them takes time for every host, so they are kept between uses of a class. */
import { HostChoice } from "./host-choice.js";
import type { SubmitterOptions } from "./ports.js";
import { keyOfClass, type TaskClass } from "./task-class.js";

/** The number of classes whose hosts are kept. Each takes memory for every host. */
const KEPT = 32;

export class HostChoices {
  readonly #options: Pick<SubmitterOptions, "hosts" | "home" | "random">;
  /** The choices that are not in use, the one that was used last at the end. */
  readonly #kept = new Map<string, HostChoice>();

  constructor(options: Pick<SubmitterOptions, "hosts" | "home" | "random">) {
    this.#options = options;
  }

  /**
   * Returns the choice of a class, for one queue.
   *
   * @param label the name of the first task, for the error
   * @throws ResourceUnavailableError if no host has what the tasks need
   */
  take(taskClass: TaskClass, label: string): HostChoice {
    const key = keyOfClass(taskClass);
    const kept = this.#kept.get(key);
    this.#kept.delete(key);
    if (kept !== undefined) return kept;
    const { hosts, home, random } = this.#options;
    return new HostChoice(hosts, home, taskClass, label, random);
  }

  /** Takes back the choice of a class whose queue is empty, so that no host is in use. */
  keep(taskClass: TaskClass, choice: HostChoice): void {
    // Bundles have one host each. Hosts that have refused a class are asked again by its next queue.
    if (taskClass.bundle !== undefined || !choice.isReusable) return;
    this.#kept.set(keyOfClass(taskClass), choice);
    if (this.#kept.size > KEPT) this.#kept.delete(this.#kept.keys().next().value!);
  }
}
