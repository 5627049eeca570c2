/**
 * The process beside a driver that watches its hosts (host-watch.ts): started with the first of them, ended after the last, and
 * started again if somebody ends it. The driver itself may be as busy as it likes.
 */
import type { HostWatchOrder } from "../../generated/proc-agent.js";
import type { ProcId } from "../link/address.js";
import { agentOf, asRoot } from "../proc/agents.js";
import type { Local } from "../proc/local.js";
import { Member } from "../proc/member.js";

/** Something that ends it again and again is stronger: this often, each time before it has run for a while, in ms. */
const mostStarts = 8;
const aWhile = 10_000;

class Liveness {
  readonly #local: Local;
  readonly #orders = new Map<ProcId, HostWatchOrder>();
  #process: Member | undefined;
  /** Of those that did not run for long, the last one included; when that was started. */
  #starts = 0;
  #startedAt = 0;

  constructor(local: Local) {
    this.#local = local;
  }

  watch(order: HostWatchOrder): void {
    this.#orders.set(order.host, order);
    if (this.#process === undefined) this.#start();
    else this.#tell(this.#process, order);
  }

  unwatch(host: ProcId): void {
    const watching = this.#process;
    if (!this.#orders.delete(host) || watching === undefined) return;
    if (this.#orders.size > 0) {
      asRoot(this.#local.home.proc, () => agentOf(watching.id).unwatchHost.broadcast(host));
      return;
    }
    this.#process = undefined;
    this.#starts = 0;
    watching.stopping = true;
    watching.body.kill();
  }

  #start(): void {
    const { platform, universe, home } = this.#local;
    this.#startedAt = platform.clock.now();
    if (this.#starts++ === mostStarts) {
      platform.warn("the process that watches hosts has ended too often: hosts are watched no more", "ViceroyWarning");
      return;
    }
    const id = platform.random.id();
    const identity = { universe, id, parent: home.proc.id, rank: 0, extent: {}, runDir: "" };
    const body = platform.start({
      isolation: "process",
      identity,
      label: "watches hosts",
      env: { NODE_OPTIONS: undefined },
      execArgv: [],
      cpus: undefined,
      stdio: "ignore",
    });
    home.proc.attach(body.pipe, id);
    const { clock } = platform;
    const member = new Member({ id, maker: home.proc.id, rank: 0, location: "", body, clock }, (_, end) =>
      this.#ended(id, end.cause.message),
    );
    this.#process = member;
    this.#local.members.set(id, member);
    for (const order of this.#orders.values()) this.#tell(member, order);
  }

  #tell({ id }: Member, order: HostWatchOrder): void {
    asRoot(this.#local.home.proc, () => agentOf(id).watchHost.broadcast(order));
  }

  #ended(id: ProcId, reason: string): void {
    this.#local.members.delete(id);
    this.#local.home.proc.peerDown(id, reason);
    if (this.#process?.id !== id) return;
    this.#process = undefined;
    if (this.#local.platform.clock.now() - this.#startedAt > aWhile) this.#starts = 0;
    if (this.#orders.size > 0) this.#start();
  }
}

const all = new WeakMap<Local, Liveness>();

/** The one of a process. */
export function livenessOf(local: Local): Liveness {
  let found = all.get(local);
  if (found === undefined) {
    found = new Liveness(local);
    all.set(local, found);
  }
  return found;
}
