/** Chooses the hosts that a process asks for leases. */
import { ResourceUnavailableError } from "../errors.js";
import { amountsOf, formatAmounts } from "../host/resources.js";
import { HostLostError, type HostPort } from "./ports.js";
import type { TaskClass } from "./task-class.js";

/** The requests and leases of one class at a host. */
interface HostUse {
  readonly index: number;
  readonly host: HostPort;
  used: number;
  /** The number of requests that the host has not answered. */
  asked: number;
  /** The number of processes that have ended while they started, since the last one that has not. */
  lostStarts: number;
  /** The error with which the host has ended, or has refused the class. */
  refused: Error | undefined;
}

/**
 * The hosts that can run tasks of one class. The next request goes to the host with most of the arguments, or to the own host if there is
 * none, as long as it has worker processes that were not asked for; otherwise to the less asked of two hosts that are drawn at
 * random. The cost does not depend on the number of hosts, unless a host has not answered in time: then one that was not asked is looked for.
 */
export class HostChoice {
  readonly #hosts: HostUse[] = [];
  /** The host with most of the arguments, or the own host; undefined if it cannot run the tasks. */
  readonly #home: HostUse | undefined;
  /** Whether the tasks prefer the host that has the arguments. */
  readonly isNear: boolean;
  readonly #random: () => number;
  /** The number of worker processes of all hosts. */
  readonly capacity: number;
  /** The reason for which the last host was taken out. */
  refusal: Error | undefined;
  /** Whether nothing has gone wrong that may go well later, so that the choice can be used again. */
  isReusable = true;

  /** @throws ResourceUnavailableError if no host has what the tasks need */
  constructor(hosts: readonly HostPort[], home: number, taskClass: TaskClass, label: string, random: () => number) {
    const { bundle, near, resources } = taskClass;
    const indices = bundle === undefined ? hosts.keys() : [bundle.host];
    for (const index of indices) {
      const host = hosts[index];
      if (host === undefined || (bundle === undefined && !hasAll(host.total, resources))) continue;
      this.#hosts.push({ index, host, used: 0, asked: 0, lostStarts: 0, refused: undefined });
    }
    if (this.#hosts.length === 0) throw new ResourceUnavailableError(describeLack(hosts, taskClass, label));
    this.isNear = near !== undefined;
    this.#home = this.#hosts.find(({ index }) => index === (near ?? home));
    this.#random = random;
    this.capacity = this.#hosts.reduce((sum, { host }) => sum + host.procs, 0);
  }

  /** The number of hosts that have not ended or refused. */
  get count(): number {
    return this.#hosts.length;
  }

  /** Whether the host that has the arguments has no process left that was not asked for. Others can be asked after a while. */
  get isNearBusy(): boolean {
    const home = this.#home;
    return this.isNear && home !== undefined && home.refused === undefined && home.used >= home.host.procs;
  }

  /** Returns whether a host is another one than that which has the arguments, and tasks may run there. */
  isAway(host: HostUse): boolean {
    const home = this.#home;
    return this.isNear && home !== undefined && home.refused === undefined && host !== home;
  }

  /**
   * Returns the host to ask next; undefined if all have ended or have refused.
   *
   * @param isLate whether hosts were asked and have not answered in time, so that another one is asked; undefined if there is none
   */
  next(isLate: boolean): HostUse | undefined {
    const home = this.#home;
    if (!isLate && home !== undefined && home.refused === undefined && home.used < home.host.procs) return home;
    if (this.#hosts.length === 0) return undefined;
    const first = this.#draw();
    const second = this.#draw();
    const less = first.used * second.host.procs <= second.used * first.host.procs ? first : second;
    return isLate && less.asked > 0 ? this.#unasked() : less;
  }

  #draw(): HostUse {
    return this.#hosts[this.#drawIndex()]!;
  }

  #drawIndex(): number {
    return Math.floor(this.#random() * this.#hosts.length);
  }

  /** Returns a host that has answered all requests. The hosts that were asked may be busy for ever. */
  #unasked(): HostUse | undefined {
    const count = this.#hosts.length;
    const start = this.#drawIndex();
    for (let i = 0; i < count; i++) {
      const host = this.#hosts[(start + i) % count]!;
      if (host.asked === 0) return host;
    }
    return undefined;
  }

  /** A process has ended while it started. Returns the number of them since the last one that has not. */
  startLost(host: HostUse): number {
    this.isReusable = false;
    return ++host.lostStarts;
  }

  /** Takes a host out. */
  refuse(host: HostUse, reason: Error): void {
    host.refused = reason;
    this.refusal = reason;
    if (!(reason instanceof HostLostError)) this.isReusable = false;
    const at = this.#hosts.indexOf(host);
    if (at >= 0) this.#hosts.splice(at, 1);
  }
}

export type { HostUse };

function hasAll(total: Readonly<Record<string, number>>, wanted: Readonly<Record<string, number>>): boolean {
  return Object.entries(wanted).every(([name, amount]) => amount <= (total[name] ?? 0));
}

function describeLack(hosts: readonly HostPort[], { resources }: TaskClass, label: string): string {
  const kinds = new Map<string, number>();
  for (const { total } of hosts) {
    const text = formatAmounts(amountsOf(total));
    kinds.set(text, (kinds.get(text) ?? 0) + 1);
  }
  const there = [...kinds].map(([text, count]) =>
    count === 1 ? `one host has ${text}` : `${count} hosts have ${text} each`,
  );
  return `cannot run ${label}: no host of the context has ${formatAmounts(amountsOf(resources))}; ${there.join(", ") || "the context has no host"}`;
}
