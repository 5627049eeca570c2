/**
 * Hosts of a submitter that count the messages to them and to their workers. Leases are granted, and tasks end, in a microtask. Time
 * stands still until a test lets it pass, so that counts are the same in each run.
 */
import { Result } from "../../runtime/tasks/refs/result.js";
import { PendingTask, RunTimes } from "../../runtime/tasks/submit/pending-task.js";
import type { GrantedLease, HostPort, WorkerPort } from "../../runtime/tasks/submit/ports.js";
import { Submitter } from "../../runtime/tasks/submit/submitter.js";
import type { TaskClass } from "../../runtime/tasks/submit/task-class.js";
import { task } from "../../runtime/tasks/task.js";

type Message =
  | "lease"
  | "withdraw"
  | "listen"
  | "run"
  | "endLease"
  | "giveBack"
  | "takeBack"
  | "cancel"
  | "kill"
  | "taken";

const procs = 4;
const nothing = new Uint8Array(0);
const empty = task("file:///counted-hosts.js", "empty", () => undefined);

/** Options of counted hosts. Without them, all hosts are idle, and the first one is the own one. */
export interface CountedOptions {
  /** The number of the own host; -1: the program runs on none of them. */
  readonly home?: number;
  readonly seed?: number;
  /** The hosts whose processes are in use for ever. */
  readonly busy?: readonly number[];
}

export class CountedHosts {
  readonly submitter: Submitter;
  /** The number of messages of each kind. */
  readonly messages = new Map<Message, number>();
  /** The number of tasks that each host has run, of those that have run any. */
  readonly runs = new Map<number, number>();
  /** The number of times that the resources of hosts were read. */
  reads = 0;
  /** The error with which all hosts refuse leases. */
  refusal: Error | undefined;
  #time = 0;
  #timers: { readonly at: number; readonly run: () => void }[] = [];
  #lastLease = 0;
  #lastTask = 0;
  readonly #times = new RunTimes();

  constructor(count: number, { home = 0, seed: firstSeed = 1, busy = [] }: CountedOptions = {}) {
    this.#times.add(1);
    let seed = firstSeed;
    this.submitter = new Submitter({
      hosts: Array.from({ length: count }, (_, index) => this.#host(index, busy.includes(index) ? 0 : procs)),
      home,
      holder: 1n,
      clock: {
        now: () => this.#time,
        epochMs: () => this.#time,
        after: (ms, run) => this.#after(ms, run),
        nextTurn: (run) => queueMicrotask(run),
      },
      random: () => {
        seed = (seed * 48271) % 0x7fffffff;
        return seed / 0x7fffffff;
      },
      receive: () => Promise.reject(new Error("nothing is stored")),
      inTurn: (body) => body(),
      callInTurn: (body, first, second) => body(first, second),
      isLost: () => false,
      referencesIn: () => ({ refs: [], borrowed: undefined }),
      noteLarge: () => {},
      grace: 1000,
    });
  }

  /** Submits an empty task. Resolves when it has ended. */
  run(taskClass: TaskClass): Promise<void> {
    const result = new Result(++this.#lastTask, "empty");
    this.submitter.submit(new PendingTask(empty, result, this.#times, 0, undefined), taskClass);
    return new Promise((resolve, reject) => {
      result.whenSettled(() => (result.error === undefined ? resolve() : reject(result.error)));
    });
  }

  /** Runs tasks, a number of them at a time. */
  async runMany(count: number, atATime: number, taskClass: TaskClass): Promise<void> {
    let left = count;
    const runSome = async () => {
      while (left-- > 0) await this.run(taskClass);
    };
    await Promise.all(Array.from({ length: atATime }, runSome));
  }

  /** Lets time pass, in ms. */
  pass(ms: number): void {
    const end = this.#time + ms;
    for (;;) {
      const next = this.#timers.sort((a, b) => a.at - b.at)[0];
      if (next === undefined || next.at > end) break;
      this.#timers.shift();
      this.#time = next.at;
      next.run();
    }
    this.#time = end;
  }

  #after(ms: number, run: () => void): { cancel(): void } {
    const timer = { at: this.#time + ms, run };
    this.#timers.push(timer);
    return {
      cancel: () => {
        this.#timers = this.#timers.filter((other) => other !== timer);
      },
    };
  }

  #count(message: Message): void {
    this.messages.set(message, (this.messages.get(message) ?? 0) + 1);
  }

  #host(index: number, idle: number): HostPort {
    const count = (message: Message) => () => this.#count(message);
    const waiting: (() => void)[] = [];
    let free = idle;
    const worker: WorkerPort = {
      proc: 0n,
      run: (_, taker) => {
        this.#count("run");
        this.runs.set(index, (this.runs.get(index) ?? 0) + 1);
        queueMicrotask(() => taker.answered({ state: "done", value: nothing, micros: 1 }));
      },
      ...{ cancel: count("cancel"), takeBack: count("takeBack"), endLease: count("endLease"), taken: count("taken") },
    };
    const hosts = this;
    return {
      get total() {
        hosts.reads++;
        return { cpus: procs };
      },
      procs,
      lease: async (_, signal): Promise<GrantedLease> => {
        this.#count("lease");
        if (this.refusal !== undefined) throw this.refusal;
        if (free > 0) free--;
        else {
          await new Promise<void>((resolve, reject) => {
            waiting.push(resolve);
            signal.addEventListener("abort", () => {
              this.#count("withdraw");
              waiting.splice(waiting.indexOf(resolve), 1);
              reject(signal.reason);
            });
          });
        }
        return { id: ++this.#lastLease, gpus: [], worker };
      },
      giveBack: () => {
        this.#count("giveBack");
        const next = waiting.shift();
        if (next === undefined) free++;
        else next();
      },
      adopt: () => Promise.resolve(undefined),
      ...{ kill: count("kill"), listen: count("listen") },
    };
  }
}
