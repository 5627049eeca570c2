/** `HostMesh.describe`: the use of attached hosts by all their drivers. */
import type { AttachedHost } from "../attached/attached-host.js";

/** A process that a driver has started on a host. */
export interface HostProcess {
  /** The id of the process on its machine. */
  readonly pid: number;
  /** The name of the process in lists of processes. */
  readonly label: string;
  /** The rank in its mesh. */
  readonly rank: number;
}

/** The memory and disk of a host that the large values of one context of `viceroy/tasks` use. */
export interface ContextUse {
  /** The id of the context. */
  readonly context: string;
  /** The bytes in memory. */
  readonly memory: number;
  /** The largest number of bytes in memory. */
  readonly memoryLimit: number;
  /** The bytes on disk. */
  readonly disk: number;
  /** The largest number of bytes on disk. */
  readonly diskLimit: number;
  /** The number of values. */
  readonly values: number;
  /** The number of those that are on disk. */
  readonly spilled: number;
}

/** A driver that has attached a host. */
export interface HostDriver {
  /** The host describes the driver by what it says of itself, by its address, and by its identity if it has one. */
  readonly description: string;
  /** Whether the driver only looks. */
  readonly readOnly: boolean;
  /** The time at which it has attached the host. */
  readonly attachedAt: Date;
  /** The processes of the driver on this host that have not ended. */
  readonly processes: readonly HostProcess[];
  /** The use of this host by the large values of the driver's contexts. On systems other than Linux, the host sees none. */
  readonly objects: readonly ContextUse[];
}

/** An attached host, and its use by all drivers. */
export interface HostDescription {
  /** The address by which this program has attached the host. */
  readonly address: string;
  /** The name of the machine. */
  readonly hostname: string;
  /** The id of the process of the host. */
  readonly pid: number;
  /** The version of Node.js, such as `v24.1.0`. */
  readonly node: string;
  /** The version of Viceroy. */
  readonly viceroy: string;
  /** The drivers that have attached the host now, this program included. */
  readonly drivers: readonly HostDriver[];
  /** The names of the meshes that the drivers have published there, sorted. */
  readonly published: readonly string[];
}

/** Asks a host. @throws Error if it has not accepted this driver, or is gone */
export async function describeHost(host: AttachedHost): Promise<HostDescription> {
  const { hostname, pid, node, viceroy } = await host.ready;
  const { drivers, published } = await host.ask((agent) => agent.describe.callOne());
  return {
    ...{ address: host.address, hostname, pid, node, viceroy, published },
    drivers: drivers.map(({ attachedAt, description, readOnly, processes, objects = [] }) => ({
      ...{ description, readOnly, attachedAt: new Date(Number(attachedAt)) },
      processes: processes.map(({ pid: id, label, rank }) => ({ pid: id, label, rank })),
      objects: objects.map(({ context, memory, memoryLimit, disk, diskLimit, values, spilled }) => ({
        ...{ context, memory, memoryLimit, disk, diskLimit, values, spilled },
      })),
    })),
  };
}
