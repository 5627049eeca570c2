/**
 * Records the messages to the ranks of a mesh whose hosts are lost and come back, and the incarnations of its actors. All processes of a
 * simulation run in one thread, so one book is enough.
 */
import type { Simulation } from "../../../runtime/testing/index.js";

/** One incarnation of the actor of a rank. */
interface Life {
  readonly incarnation: number;
  readonly pid: number;
}

export class ReturnBook {
  /** The number of messages that actors have handled. */
  deliveries = 0;
  readonly violations: string[] = [];
  readonly #simulation: Simulation;
  /** The newest incarnation of each rank. */
  readonly #newest = new Map<number, Life>();
  /** The handled messages of each rank: a message can go to many. */
  readonly #handled = new Set<string>();
  #number = 0;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  /** Returns the number of a new message. */
  next(): number {
    return ++this.#number;
  }

  /** Notes that an actor begins to live. */
  begins(rank: number, life: Life): void {
    const last = this.#newest.get(rank);
    if (last !== undefined && life.incarnation <= last.incarnation) {
      this.violations.push(`rank ${rank} has begun incarnation ${life.incarnation} after ${last.incarnation}`);
    }
    const process = this.#simulation.processes.find(({ pid }) => pid === last?.pid);
    if (process !== undefined && !process.ended && process.pid !== life.pid) {
      this.violations.push(`rank ${rank} lives twice: ${last!.incarnation} and ${life.incarnation}`);
    }
    this.#newest.set(rank, life);
  }

  /** Notes that an actor handles a message. */
  takes(rank: number, incarnation: number, number: number): void {
    this.deliveries++;
    const delivery = `message ${number} to rank ${rank}`;
    if (this.#handled.has(delivery)) this.violations.push(`${delivery} came twice`);
    this.#handled.add(delivery);
    const newest = this.#newest.get(rank)!.incarnation;
    if (incarnation < newest) {
      this.violations.push(`${delivery} came to incarnation ${incarnation}, which ${newest} has replaced`);
    }
  }
}

let book: ReturnBook;

/** Returns the book of the run. */
export function currentReturnBook(): ReturnBook {
  return book;
}

/** Opens the book of a run. */
export function openReturnBook(simulation: Simulation): ReturnBook {
  book = new ReturnBook(simulation);
  return book;
}
