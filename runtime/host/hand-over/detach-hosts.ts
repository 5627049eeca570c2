/**
 * `detachHosts`: a driver hands its published meshes to a controller, a process on one of its hosts, and leaves the hosts.
 *
 * First, the controller is started and loads the program, while nothing has changed. Then the hosts keep all messages to
 * the driver, the driver waits for the calls that are under way, and says farewell to its processes and hosts. At last, the
 * controller connects under the identity of the driver, and the hosts pass the messages to it. Up to the farewell, the
 * driver can go on as if nothing had happened.
 */
import type { HostAgentMesh } from "../../../generated/host-agent.js";
import { errorMessage } from "../../../shared/text/error-message.js";
import { currentCell } from "../../actor/context.js";
import { viewOf } from "../../actor/mesh/actor-mesh.js";
import { AGENT_MESH, type ProcId } from "../../link/address.js";
import type { TlsFiles } from "../../link/transport/tls/credentials.js";
import { makeNodePlatform } from "../../proc/platform/node-platform.js";
import { currentRuntime } from "../../proc/process/current-runtime.js";
import { ProcessRuntime } from "../../proc/process/process-runtime.js";
import { countdown, settlesWithin } from "../../proc/time-limit.js";
import type { AttachedHost } from "../attached/attached-host.js";
import { AttachedHosts } from "../attached/attached-hosts.js";
import { attachmentOf, type HostMesh } from "../mesh/host-mesh.js";
import { type ProgramPublications, publicationsOf } from "../publish/program-publications.js";
import { describeHandOver } from "./describe-hand-over.js";
import { encodeHandOver, type HandOver } from "./hand-over.js";
import { type HandedMeshes, refusals } from "./refusals.js";

/** Time in ms in which a controller must take over after the driver has left. */
const takeOverLimit = 20_000;

/** Time in ms between two looks at the calls that are under way. */
const pollInterval = 10;

export interface DetachHostsOptions {
  /** The name, in messages to people, of the job that is detached: `job "train"`. */
  readonly subject: string;
  /** The time in ms for calls that are under way. */
  readonly drain: number;
  /** The files of the certificate of the controller, which are sent to it; absent if the hosts need none. */
  readonly tls?: TlsFiles;
}

/** Thrown when meshes of a program cannot be handed over. Nothing has changed then. */
export class HandOverRefusedError extends Error {
  override readonly name = "HandOverRefusedError";
  /** The reasons why meshes or options cannot be handed over: one text for each. */
  readonly reasons: readonly string[];

  constructor(subject: string, reasons: readonly string[], options?: ErrorOptions) {
    super(`cannot detach ${subject}: ${reasons.join("; ")}`, options);
    this.reasons = reasons;
  }
}

/**
 * Hands all published meshes on the given hosts to a controller, and leaves the hosts.
 *
 * @param meshes whole meshes of attached hosts; the controller runs on the first host of the first one
 * @throws {HandOverRefusedError} as a rejection, when meshes of this program would end with it or cannot be handed over, or
 * the controller cannot start; then nothing has changed
 * @throws {Error} as a rejection, when the controller could not take over; then the meshes have ended
 */
export function detachHosts(meshes: readonly HostMesh[], options: DetachHostsOptions): Promise<void> {
  const groups = meshes.map((mesh) => attachmentOf(mesh)!);
  return new Detachment(currentRuntime(), groups, options).run();
}

class Detachment {
  readonly #runtime: ProcessRuntime;
  readonly #groups: readonly AttachedHosts[];
  readonly #hosts: readonly AttachedHost[];
  readonly #publications: ProgramPublications;
  readonly #subject: string;
  readonly #drain: number;
  readonly #tls: TlsFiles | undefined;

  constructor(runtime: ProcessRuntime, groups: readonly AttachedHosts[], { subject, drain, tls }: DetachHostsOptions) {
    this.#runtime = runtime;
    this.#groups = groups;
    this.#hosts = groups.flatMap(({ hosts }) => hosts);
    this.#publications = publicationsOf(runtime);
    this.#subject = subject;
    this.#drain = drain;
    this.#tls = tls;
  }

  async run(): Promise<void> {
    const desk = new ControllerDesk();
    try {
      const state = await this.#prepare(desk).catch((error) => {
        throw this.#refusalOf(error);
      });
      try {
        await this.#sayFarewell();
        await desk.handOver(state);
      } catch (cause) {
        const why = errorMessage(cause);
        throw new Error(`its controller could not take over, so the meshes of this program have ended: ${why}`, {
          cause,
        });
      }
    } finally {
      await desk.leave();
    }
  }

  #refusalOf(error: unknown): HandOverRefusedError {
    if (error instanceof HandOverRefusedError) return error;
    return new HandOverRefusedError(this.#subject, [errorMessage(error)], { cause: error });
  }

  /**
   * Does everything after which the driver can still go on, and returns what it hands over.
   * @throws rethrows errors of the hosts; then they pass messages as before
   */
  async #prepare(desk: ControllerDesk): Promise<HandOver> {
    if (currentCell() !== this.#runtime.mainProc.proc.root) {
      throw new Error("an actor calls it; call it in the code of the program itself");
    }
    const { clock } = this.#runtime.platform;
    await Promise.all(this.#hosts.map(({ ready }) => ready));
    const known = Promise.all(this.#meshes.actors.map((mesh) => mesh.whenKnown()));
    await settlesWithin(clock, this.#drain, known);
    const prepared = await this.#describe();
    await desk.start(this.#groups[0]!, prepared).catch((cause) => {
      const { address } = this.#hosts[0]!;
      throw new Error(`its controller cannot start on host ${address}: ${errorMessage(cause)}`, { cause });
    });
    try {
      await this.#holdMessages(this.#drain + takeOverLimit);
      await this.#drainMessages();
      return await this.#describe();
    } catch (error) {
      await Promise.allSettled(this.#hosts.map((host) => host.ask((agent) => agent.resume.callOne())));
      throw error;
    }
  }

  /** Returns the description of everything that is handed over, in its present state. */
  get #meshes(): HandedMeshes {
    const procs = this.#groups.flatMap((group) => group.procs);
    const published = new Set(this.#publications.own.map(({ mesh }) => viewOf(mesh).record));
    const actors = procs.flatMap(({ meshes }) => [...meshes]).filter(({ record }) => published.has(record));
    return { groups: this.#groups, procs, actors };
  }

  /** @throws HandOverRefusedError if something cannot be handed over */
  async #describe(): Promise<HandOver> {
    await Promise.all(this.#groups.map(({ code }) => code.leave()));
    const meshes = this.#meshes;
    const reasons = refusals(this.#runtime, meshes);
    if (meshes.actors.length === 0) reasons.unshift("this program has published no mesh on its hosts");
    if (reasons.length > 0) throw new HandOverRefusedError(this.#subject, reasons);
    return describeHandOver(this.#runtime, meshes, this.#publications.own, this.#subject, this.#tls);
  }

  async #holdMessages(limit: number): Promise<void> {
    await Promise.all(this.#hosts.map((host) => host.ask((agent) => agent.hold.callOne(limit))));
  }

  /** Waits until calls to the meshes have been answered and messages have arrived, for the time of `drain`. */
  async #drainMessages(): Promise<void> {
    const { clock } = this.#runtime.platform;
    const { proc } = this.#runtime.mainProc;
    const left = countdown(clock, this.#drain);
    // The agent of this program passes on the calls of other programs.
    const agent = proc.cell(AGENT_MESH)!;
    while (left() > 0 && (agent.calls.length > 0 || this.#hasOpenCalls)) {
      await new Promise<void>((resolve) => clock.after(Math.min(pollInterval, left()), resolve, true));
    }
    const sent = this.#meshes.actors.map(({ record }) => record.whenSent());
    await settlesWithin(clock, left(), Promise.all(sent));
    await settlesWithin(clock, left(), Promise.all(this.#procIds.map((id) => proc.whenDeliveredTo(id))));
  }

  /** Whether this program waits for answers of its processes on the hosts. */
  get #hasOpenCalls(): boolean {
    const { routes } = this.#runtime.mainProc.proc;
    return this.#procIds.some((id) =>
      routes.linksTo(id).some(({ calls }) => calls.all().some((call) => !call.isAbandoned)),
    );
  }

  get #procIds(): ProcId[] {
    return this.#meshes.procs.flatMap((mesh) =>
      Array.from({ length: mesh.members.count }, (_, rank) => mesh.childAt(rank).id),
    );
  }

  /** Leaves the processes and the hosts, without ending them. */
  async #sayFarewell(): Promise<void> {
    const { proc } = this.#runtime.mainProc;
    const { procs } = this.#meshes;
    const processes = this.#procIds;
    const reason = `${this.#subject} was detached, so this program does not own it any more`;
    this.#publications.giveUp();
    for (const id of processes) proc.leavePeer(id, reason);
    // The answers arrive after the farewells have passed through the agents of the hosts.
    await this.#holdMessages(takeOverLimit);
    for (const mesh of procs) mesh.giveUp(reason);
    for (const group of this.#groups) group.giveUp(reason);
  }
}

/**
 * A second connection to the host of the controller, under an identity of its own: that of the driver passes on to the
 * controller.
 */
class ControllerDesk {
  #hosts: AttachedHosts | undefined;
  #controller: bigint | undefined;

  async start(group: AttachedHosts, state: HandOver): Promise<void> {
    const runtime = new ProcessRuntime(makeNodePlatform(), undefined, () => {});
    // A way of its own, because the driver ends its own one when it leaves the hosts.
    const { name, dimension, access, through } = group;
    const options = { name, dimension, access, through, targets: [group.hosts[0]!.target] };
    this.#hosts = new AttachedHosts(runtime, runtime.mainProc.proc.root, options);
    await this.#hosts.ready;
    const text = encodeHandOver(state);
    this.#controller = await this.#ask((agent) => agent.startController.callOne(text));
  }

  async handOver(state: HandOver): Promise<void> {
    const controller = this.#controller!;
    const text = encodeHandOver(state);
    await this.#ask((agent) => agent.handOver.callOne(controller, text));
    this.#controller = undefined;
  }

  /** Leaves the host, and ends a controller that has not taken over. Never rejects. */
  async leave(): Promise<void> {
    const controller = this.#controller;
    if (controller !== undefined) {
      await this.#ask((agent) => agent.endController.callOne(controller)).then(undefined, () => {});
    }
    await this.#hosts?.stop({ reason: "the controller has taken over", drain: 0 });
  }

  #ask<T>(send: (agent: HostAgentMesh) => T): T {
    return this.#hosts!.hostAt(0).ask(send);
  }
}
