/**
 * A program that runs tasks and actors in a context while faults happen, and the checks of what contexts promise. Some
 * contexts are on one machine, others on attached hosts. A third of the runs is calm: no fault excuses an error then.
 */
import { attachHosts } from "../../../runtime/index.js";
import { JobContext } from "../../../runtime/tasks/index.js";
import type { FaultKind, SimulateOptions, Simulation } from "../../../runtime/testing/index.js";
import { ActorSteps } from "./actor-steps.js";
import { checkFairness } from "./check-fairness.js";
import { checkAllFree } from "./check-free.js";
import { GroupSteps } from "./group-steps.js";
import { ReferenceSteps } from "./reference-steps.js";
import { ResourceUse } from "./resource-use.js";
import { setTallyBook, TallyBook } from "./tally.js";
import { waitForSome } from "./task-body.js";
import { type StartedTask, TaskBook } from "./task-book.js";
import { drawTask } from "./task-plan.js";

const steps = 40;
const token = "what the program and its hosts share";
/** The time in ms in which the results of all tasks come, after the last fault. */
const patience = 150_000;
/** The time limit of a run in ms. */
const limit = 900_000;
/** The time in ms after which the processes of a context that was closed have ended, also if one is paused. */
const expiry = 40_000;

function onHosts(seed: number): boolean {
  return seed % 2 === 0;
}

function isCalm(seed: number): boolean {
  return seed % 3 === 0;
}

const kindsOfMachine: readonly FaultKind[] = ["crash", "crash", "pause", "slow", "skew"];
const kindsOfHosts: readonly FaultKind[] = [
  ...["crash", "crash", "crash", "pause", "pause-host", "cut", "cut", "partition", "slow", "skew", "crash-host"],
] as FaultKind[];

/** The options of a run of `npm run sim -- --workload tasks`. */
export function optionsOf(seed: number): SimulateOptions {
  if (isCalm(seed)) return { seed, limit };
  const kinds = onHosts(seed) ? kindsOfHosts : kindsOfMachine;
  return { seed, limit, faults: { count: 5, within: 900, kinds, longest: 20_000 } };
}

export interface Outcome {
  /** The number of runs of tasks. */
  readonly deliveries: number;
}

export async function tasks(simulation: Simulation): Promise<Outcome> {
  const { random, seed } = simulation;
  const [hostCount, procs, slots] = [2 + random.int(2), 1 + random.int(3), 2 + random.int(2)];
  const names = onHosts(seed) ? Array.from({ length: hostCount }, (_, i) => `n${i}`) : [];
  for (const name of names) simulation.startHost(name, { token });
  const hosts =
    names.length === 0
      ? undefined
      : attachHosts(
          names.map((name) => `tcp://${name}`),
          { token },
        );
  const book = new TaskBook(simulation, new ResourceUse(procs, slots), isCalm(seed));
  setTallyBook(new TallyBook(book));
  const options = { procs, grace: 300, resources: book.resources.total };
  let context: JobContext;
  try {
    context = await JobContext.open(hosts === undefined ? options : { ...options, hosts });
  } catch (error) {
    if (book.calm) throw error;
    await hosts?.stop();
    return { deliveries: book.runCount };
  }
  await program(simulation, book, context);
  await hosts?.stop();
  if (book.violations.length > 0) throw new Error(book.violations.slice(0, 3).join("; "));
  return { deliveries: book.runCount };
}

async function program(simulation: Simulation, book: TaskBook, context: JobContext): Promise<void> {
  const { random } = simulation;
  const actors = new ActorSteps(book, context);
  const groups = new GroupSteps(book, context);
  const references = new ReferenceSteps(book, context);
  const waits: Promise<void>[] = [];
  const closesEarly = random.chance(0.15);
  for (let i = 0; i < steps; i++) {
    const plan = drawTask(random);
    const draws = { what: random.number(), a: random.number(), n: random.int(6), chance: random.number() };
    const referenceDraws = references.draw();
    const sleep = random.chance(0.4) ? random.int(30) : 0;
    if (!simulation.step()) continue;
    references.step(referenceDraws);
    const started = book.tasks.filter(({ parent }) => parent === undefined);
    const one = (at: number): StartedTask | undefined => started[Math.floor(at * started.length)];
    if (draws.what < 0.6) {
      const dependency = draws.chance < 0.3 ? one(draws.a) : undefined;
      book.start(context, plan, dependency === undefined ? {} : { dependencies: [dependency] });
    } else if (draws.what < 0.7) {
      const some = started.slice(-1 - draws.n);
      if (some.length > 0) {
        const count = 1 + (draws.n % some.length);
        waits.push(waitForSome(book, context, some, count, draws.chance < 0.5 ? draws.n * 10 : undefined));
      }
    } else if (draws.what < 0.8) {
      const victim = one(draws.a);
      if (victim !== undefined) book.cancel(context, victim);
    } else if (draws.what < 0.87) {
      actors.create(`actor${draws.n % 3}`, draws.n % 2, draws.chance < 0.5 ? 1 : 0);
    } else if (draws.what < 0.93) {
      actors.call(`actor${draws.n % 3}`, 1 + draws.n);
    } else if (draws.what < 0.95) {
      actors.stop(`actor${draws.n % 3}`);
    } else {
      groups.step(draws.n, draws.chance, plan);
    }
    if (sleep > 0) await simulation.sleep(sleep);
  }
  if (!closesEarly) {
    await groups.end();
    await actors.end();
    await references.end();
    await checkFairness(book, context);
    await allSettled(book, actors);
    await Promise.race([Promise.all(waits), simulation.sleep(patience)]);
    await checkAllFree(book, context);
  }
  book.isClosing = true;
  actors.close();
  groups.close();
  references.close();
  await context.close();
  if (closesEarly) {
    for (const { id, outcome, parent } of book.tasks) {
      if (parent === undefined && outcome === undefined)
        book.violation(`t${id} has not settled when its context has closed`);
    }
  }
  // Processes that end later have settled their results already, apart from those that are paused.
  book.checkRest();
  await checkEnds(simulation, book);
  book.checkRest();
}

/** Waits until all tasks have results, some of which come long after a fault. */
async function allSettled(book: TaskBook, actors: ActorSteps): Promise<void> {
  const { simulation } = book;
  for (let waited = 0; waited < patience; waited += 500) {
    if (book.unsettled.length === 0 && actors.unsettled.length === 0) return;
    await simulation.sleep(500);
  }
  const labels = [...book.unsettled.map(({ id }) => `t${id}`), ...actors.unsettled];
  book.violation(`${labels.slice(0, 5).join(", ")} never settled`);
}

/** Checks that no process of the context is left. Daemons of hosts live on. */
async function checkEnds(simulation: Simulation, book: TaskBook): Promise<void> {
  const isOfContext = /^(?:task hosts|task-worker|actor)/;
  const left = () => simulation.processes.filter(({ name, ended }) => !ended && isOfContext.test(name));
  for (let waited = 0; waited < expiry && left().length > 0; waited += 1000) await simulation.sleep(1000);
  for (const { name } of left()) book.violation(`${name} has outlived its context`);
}
