/**
 * The agent of a proc: the actor with mesh id 0 that does what the proc's maker asks for. It says how each request is
 * met; the proc, its actors and its end are those of local-proc.ts.
 */

import {
  ProcAgentActor,
  type ProcConfig,
  type ProcInfo,
  type SpawnOrder,
  type SpawnOutcome,
  type StopOrder,
} from "../../generated/proc-agent.js";
import type { ActorNotice } from "../../generated/supervision.js";
import { context } from "../actor/context.js";
import type { ActorFailure } from "../actor/hooks.js";
import type { MeshId } from "../link/address.js";
import { errorOf } from "../supervise/cause.js";
import { version } from "../version.js";
import { importModule } from "./import-module.js";
import type { LocalProc } from "./local-proc.js";
import { noticeOf } from "./notice.js";
import { registry } from "./registry.js";

export class Agent extends ProcAgentActor {
  readonly #proc: LocalProc;
  #configured: Promise<unknown> = Promise.resolve();

  constructor(proc: LocalProc) {
    super();
    this.#proc = proc;
  }

  async configure(config: ProcConfig): Promise<ProcInfo> {
    const { rank: point } = context();
    const loading = this.#proc.outside(() => prepare(config, point));
    this.#configured = loading;
    await loading;
    this.#proc.listen();
    return { pid: process.pid, node: process.version, viceroy: version };
  }

  async createActor(order: SpawnOrder): Promise<SpawnOutcome> {
    const { rank, extent } = context();
    const { mesh, name, incarnation } = order;
    const shape = { mesh, name, incarnation, rank: rank.rank, extent, owner: this.#proc.maker };
    try {
      await this.#configured;
      const actorClass = await this.#proc.loading(() => registry.find(order.actor, order.fingerprint));
      const { descriptor } = actorClass;
      const args = descriptor.args.decode(order.args);
      const failure = await this.#proc.create({ ...shape, descriptor, actorClass, args });
      return failure === undefined ? {} : { failure: noticeOf(shape, failure) };
    } catch (error) {
      const failure: ActorFailure = { kind: "constructor", error, at: Date.now() };
      this.#proc.refuse(shape, failure);
      return { failure: { ...noticeOf(shape, failure), kind: "spawn" } };
    }
  }

  refuse(mesh: MeshId, name: string, reason: string): void {
    const { rank, extent } = context();
    const error = errorOf({ name: "SpawnError", message: reason });
    const shape = { mesh, name, incarnation: 0, rank: rank.rank, extent, owner: this.#proc.maker };
    this.#proc.refuse(shape, { kind: "constructor", error, at: Date.now() });
  }

  async stopActor(mesh: MeshId, order: StopOrder): Promise<void> {
    await this.#proc.stop(mesh, order);
  }

  async shutdown(order: StopOrder): Promise<void> {
    await this.#proc.stopAll(order);
    this.#proc.leaveSoon(order.reason);
  }

  alive(): void {}

  failed(notice: ActorNotice): void {
    this.#proc.notice(notice);
  }
}

/** What comes before any actor: the loader, the bootstrap module, and the function that this exports as default. */
async function prepare({ loader, bootstrap }: ProcConfig, point: unknown): Promise<void> {
  if (loader !== undefined) ((await importModule(loader)) as { register(): void }).register();
  if (bootstrap === undefined) return;
  const { default: run } = (await importModule(bootstrap)) as { default?: unknown };
  if (typeof run === "function") await run(point);
}
