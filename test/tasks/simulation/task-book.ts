/**
 * The record of all tasks of a simulated context: where and how often each has begun, and how it has ended. All simulated
 * processes share it, because they share one heap. It checks the promises of the scheduler.
 */
import { currentRuntime } from "../../../runtime/proc/process/current-runtime.js";
import { type JobContext, type ObjectRef, type PlacementGroup, task } from "../../../runtime/tasks/index.js";
import { recordOf } from "../../../runtime/tasks/refs/object-ref.js";
import type { Result } from "../../../runtime/tasks/refs/result.js";
import type { ProcessView, Simulation } from "../../../runtime/testing/index.js";
import type { ResourceUse } from "./resource-use.js";
import { performTask } from "./task-body.js";
import type { TaskPlan } from "./task-plan.js";

/** One run of the function of a task. */
export interface TaskRun {
  readonly process: ProcessView;
  readonly at: number;
  hasFinished: boolean;
}

/** A task that has been started. */
export interface StartedTask {
  readonly id: number;
  readonly plan: TaskPlan;
  readonly ref: ObjectRef<string>;
  /** The process that has started it. */
  readonly owner: ProcessView;
  readonly parent: number | undefined;
  readonly since: number;
  readonly runs: TaskRun[];
  readonly dependencies: readonly StartedTask[];
  readonly isGrouped: boolean;
  isCancelled: boolean;
  /** The state of the result when it settled. */
  outcome: { readonly value: Result["value"]; readonly error: Error | undefined } | undefined;
}

export interface StartOptions {
  readonly parent?: number;
  readonly dependencies?: readonly StartedTask[];
  readonly placement?: PlacementGroup;
}

export class TaskBook {
  readonly simulation: Simulation;
  readonly resources: ResourceUse;
  /** Whether no fault happens. */
  readonly calm: boolean;
  readonly violations: string[] = [];
  readonly tasks: StartedTask[] = [];
  /** Whether the context is being closed. */
  isClosing = false;
  /** The number of runs of functions. */
  runCount = 0;
  readonly #again;
  readonly #once;

  constructor(simulation: Simulation, resources: ResourceUse, calm: boolean) {
    this.simulation = simulation;
    this.resources = resources;
    this.calm = calm;
    const perform = (id: number, ...given: string[]) => performTask(this, id, given);
    // Tasks are made for each run: what is known of their run times is then no part of another run.
    this.#again = task("simulation:", "again", perform, { idempotent: true });
    this.#once = task("simulation:", "once", perform);
  }

  violation(text: string): void {
    this.simulation.note(`violation: ${text}`);
    this.violations.push(text);
  }

  /** The process that the running code belongs to. */
  get process(): ProcessView {
    return this.simulation.processes[currentRuntime().platform.pid - 1]!;
  }

  start(context: JobContext, plan: TaskPlan, options: StartOptions = {}): StartedTask {
    const { parent, dependencies = [], placement } = options;
    const id = this.tasks.length;
    const runner = context.with({
      name: `t${id}`,
      resources: this.resources.amountsOf(plan.needs),
      ...(placement === undefined ? {} : { placement }),
    });
    const run = plan.idempotent ? this.#again : this.#once;
    const started: StartedTask = {
      ...{ id, plan, parent, dependencies, owner: this.process, since: this.simulation.now, runs: [] },
      ref: runner.run(run, id, ...dependencies.map(({ ref }) => ref)),
      isGrouped: placement !== undefined,
      isCancelled: false,
      outcome: undefined,
    };
    this.tasks.push(started);
    this.simulation.note(
      `t${id} ${JSON.stringify({ ...plan, children: plan.children.length })} ${parent === undefined ? "" : `of t${parent}`}`,
    );
    const { result } = recordOf(started.ref);
    result.whenSettled(() => this.#settled(started, result));
    return started;
  }

  cancel(context: JobContext, started: StartedTask): void {
    if (started.outcome === undefined) started.isCancelled = true;
    this.simulation.note(`t${started.id} is cancelled`);
    context.cancel(started.ref);
  }

  begin(id: number): { readonly started: StartedTask; readonly run: TaskRun } {
    const started = this.tasks[id]!;
    const run = { process: this.process, at: this.simulation.now, hasFinished: false };
    const [first] = started.runs;
    if (first !== undefined && !started.plan.idempotent) {
      this.violation(`t${id} began twice, on ${first.process.name} and on ${run.process.name}`);
    }
    if (
      this.calm &&
      started.outcome !== undefined &&
      !/process ends|context\.close/.test(started.outcome.error?.message ?? "")
    )
      this.violation(`t${id} began after it had ended`);
    this.simulation.note(`t${id} begins on ${run.process.name}`);
    started.runs.push(run);
    this.runCount++;
    return { started, run };
  }

  /** Returns the result of a run. */
  finish({ id, runs }: StartedTask, run: TaskRun): string {
    run.hasFinished = true;
    this.simulation.note(`t${id} finishes`);
    return `t${id}.${runs.indexOf(run)}`;
  }

  /** Returns the tasks that should have ended by now. The results of a process end with it. */
  get unsettled(): StartedTask[] {
    return this.tasks.filter(({ outcome, owner }) => outcome === undefined && !owner.ended);
  }

  /** Checks the results once more after the context was closed. A process that is paused settles its results later. */
  checkRest(): void {
    for (const { id, ref, outcome, owner } of this.tasks) {
      if (outcome === undefined) {
        if (!owner.ended && owner.busyUntil <= this.simulation.now) this.violation(`t${id} has never settled`);
        continue;
      }
      const { value, error } = recordOf(ref).result;
      if (value !== outcome.value || error !== outcome.error) this.violation(`t${id} has changed its outcome`);
    }
  }

  #settled(started: StartedTask, { value: encoded, error }: Result): void {
    const { id, ref, outcome, runs } = started;
    this.simulation.note(`t${id} ${error === undefined ? "has a result" : `has the error ${error.message}`}`);
    if (outcome !== undefined) this.violation(`t${id} settled twice`);
    started.outcome = { value: encoded, error };
    if (error !== undefined) {
      const why = this.#objection(started, error);
      if (why !== undefined) this.violation(`t${id} failed with ${error.name}, ${why}: ${error.message}`);
      return;
    }
    const value = recordOf(ref).codec.decode(encoded as Uint8Array);
    const expected = runs.flatMap(({ hasFinished }, i) => (hasFinished ? [`t${id}.${i}`] : []));
    if (!expected.includes(value as string)) {
      this.violation(`t${id} has the result ${value} in place of ${expected.join(" or ") || "none"}`);
    }
  }

  /** Whether a task, whose process ends, is not running there any more: it then does not wait for its children. */
  #mayHaveEnded(parent: number | undefined): boolean {
    if (parent === undefined) return false;
    if (this.isClosing) return true;
    const { plan, outcome, runs, isCancelled } = this.tasks[parent]!;
    return (
      !this.calm ||
      outcome !== undefined ||
      isCancelled ||
      runs.some(({ hasFinished }) => hasFinished) ||
      plan.kind === "throw"
    );
  }

  /** Returns why a task should not have ended with an error; undefined if it may have. */
  #objection({ plan, parent, isCancelled, isGrouped, dependencies }: StartedTask, error: Error): string | undefined {
    const hasFailed = dependencies.some(({ outcome }) => outcome?.error !== undefined);
    switch (error.name) {
      case "TaskError":
        if (hasFailed) return undefined;
        if (plan.children.length === 0) return plan.kind === "throw" ? undefined : "and does not throw";
        return undefined;
      case "TaskCancelledError":
        if (isCancelled || /context\.close/.test(error.message)) return undefined;
        return this.#mayHaveEnded(parent) && /the worker process ends/.test(error.message)
          ? undefined
          : "and was not cancelled";
      case "WorkerLostError":
        if (/was cancelled and did not end|its placement group (?:was|has been) removed/.test(error.message))
          return undefined;
        return this.calm ? "although no process was killed" : undefined;
      case "ResourceUnavailableError":
        return isGrouped ? undefined : "although a host has its resources";
      case "HostLostError":
      case "ObjectLostError":
        return this.calm && !this.isClosing ? "although no process was killed" : undefined;
      default:
        return "which is not expected";
    }
  }
}
