/** Hosts and workers of a context as the submitter uses them: calls of their actors. */
import type { ContextHost, Lease, LeaseNotice, TaskOwnerMesh, TaskWorkerMesh } from "../../../generated/tasks.js";
import { procsOf } from "../../codegen/v1/index.js";
import { ActorError, SupervisionError } from "../../index.js";
import { ResourceUnavailableError, WorkerLostError } from "../errors.js";
import { callForAnswer } from "../kernel.js";
import { callInTurn } from "../objects/piece-sources.js";
import { type GrantedLease, HostLostError, type HostPort, type LeaseOrder, type WorkerPort } from "../submit/ports.js";
import { tell } from "../tell.js";

/** Returns whether an error of a call means that the process of the actor has ended. */
export function isLost(error: unknown): boolean {
  return error instanceof SupervisionError;
}

/** The process that uses a host. */
export interface HostUser {
  /** The number of the process, which holds the leases. */
  readonly proc: bigint;
  /** The actor that owns the results of the process. */
  readonly ownerMesh: TaskOwnerMesh<never>;
  /** Runs code that sends messages. */
  inTurn(body: () => void): void;
}

/** @param index the number of the host in the context */
export function hostPortOf({ host, store, resources, procs }: ContextHost, index: number, user: HostUser): HostPort {
  const holder = user.proc;
  const inTurn = (body: () => void) => user.inTurn(body);
  let lastRequest = 0;
  return {
    total: resources,
    procs,
    async lease(order: LeaseOrder, signal: AbortSignal): Promise<GrantedLease> {
      const number = ++lastRequest;
      // The call itself is not cancelled: the host may have granted the lease, and its answer would be lost.
      const withdraw = () => inTurn(() => tell(host, () => host.withdraw.broadcast(holder, number)));
      signal.addEventListener("abort", withdraw);
      try {
        const lease = await host.lease.callOne({ ...order, number });
        signal.throwIfAborted();
        return grantedOf(lease);
      } catch (error) {
        if (isLost(error)) throw new HostLostError((error as Error).message, { cause: error });
        if (error instanceof ActorError && error.remoteName === "ResourceUnavailableError") {
          throw new ResourceUnavailableError(error.message, { cause: error });
        }
        if (error instanceof ActorError && error.remoteName === "WorkerLostError") {
          throw new WorkerLostError(order.label, error.message, { cause: error });
        }
        throw error;
      } finally {
        signal.removeEventListener("abort", withdraw);
      }
    },
    giveBack: (lease) => tell(host, () => host.giveBack.broadcast(lease)),
    kill: (lease, reason, ifBegun) => tell(host, () => host.kill.broadcast(lease, reason, ifBegun)),
    adopt: async (id, memory) => {
      const adopted = await callInTurn(inTurn, () => store.adopt.callOne(user.ownerMesh, id, memory));
      return adopted === null ? undefined : { store, memory: adopted, host: index };
    },
    listen: (take: (notice: LeaseNotice) => void) => inTurn(() => void listen(host, holder, take)),
  };
}

/** Passes on the notices until the host ends. Its end is found out by the calls to it. */
async function listen(host: ContextHost["host"], holder: bigint, take: (notice: LeaseNotice) => void): Promise<void> {
  try {
    for await (const [, notice] of host.notices.stream(holder)) take(notice);
  } catch (error) {
    if (!isLost(error)) throw error;
  }
}

function grantedOf(lease: Lease): GrantedLease {
  return { id: lease.id, gpus: lease.gpus, worker: workerPortOf(lease.worker) };
}

function workerPortOf(worker: TaskWorkerMesh<never>): WorkerPort {
  const { run, cancel, takeBack, endLease, taken } = worker;
  return {
    proc: procsOf(worker)[0]!,
    run: (order, taker) => callForAnswer(run, [order], taker),
    cancel: (lease, id) => tell(worker, () => cancel.broadcast(lease, id)),
    takeBack: (lease) => tell(worker, () => takeBack.broadcast(lease)),
    endLease: (lease) => tell(worker, () => endLease.broadcast(lease)),
    taken: (lease, id) => tell(worker, () => taken.broadcast(lease, id)),
  };
}
