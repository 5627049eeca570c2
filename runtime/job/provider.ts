/**
 * The interface that each place which gives hosts implements, in a folder of its own. The job itself (job-life.ts) does everything else: the
 * cache, the events, attaching the hosts.
 *
 * What a provider has submitted is described by its `Allocation`, plain JSON that another process can use to find it
 * again. A provider keeps no state of its own.
 */
import type { ClientOrder, ClientOutcome } from "./batch/client.js";
import type { SharedWith } from "./credentials/index.js";
import type { JobEvent } from "./events.js";
import type { CheckedOptions, TlsSpec } from "./job-options.js";
import type { Json } from "./json.js";
import type { DialHost } from "./kernel.js";
import type { HostPlace } from "./mesh-spec.js";
import type { JobRecord } from "./record/job-record.js";

/** What a provider needs to submit a job. */
export interface Submission {
  /** The name of the job, for people and for lists of schedulers. */
  readonly name: string;
  /** The random id of this run of the job. All that is submitted carries it, so that it can be found again. */
  readonly applyId: string;
  /** A private folder for the files of this run: logs and credentials. */
  readonly folder: string;
  /** The credentials that were made for this run; undefined if its hosts need no certificates. */
  readonly credentials: RunCredentials | undefined;
  /**
   * The time in ms for which the hosts stay without a driver; undefined if everything ends with the driver that
   * submits.
   */
  readonly idle: number | undefined;
  /** The time in ms in which a host that was lost must be up again; 0 if it is not replaced. */
  readonly lostTimeout: number;
  /** The command that runs inside the allocation, and with which the job ends; absent if the hosts wait for drivers. */
  readonly client?: ClientOrder;
  /** The record of the job, in the form of its file, for the machine on which the command runs. */
  readonly record: string;
  readonly signal: AbortSignal;
}

/** The credentials of one run of a job. */
export interface RunCredentials {
  /** The folder with the files (credentials/credentials-folder.ts). */
  readonly folder: string;
  /** The secret of each host, by the URI of its identity. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** A host that is up. */
export interface ReadyHost extends HostPlace {
  /** The address by which other hosts reach it, and the driver too, unless there is a route. */
  readonly address: string;
  /** The address by which the driver reaches it, such as a forwarded socket. */
  readonly route?: string;
  /**
   * Makes a connection to the host, if the driver does not dial its address. One host of those that have it is the driver gateway: the
   * driver reaches all others through it.
   */
  readonly dial?: DialHost;
  /** The token that the host asks for; absent if it asks for none. */
  readonly token?: string;
  /** How many times the host was replaced. Absent: the provider does not count. */
  readonly incarnation?: number;
}

/** The order and the record that a provider brings to the command of a batch job. */
export interface Delivery {
  readonly client: ClientOrder;
  /** The record of the run, in the form of its file. */
  readonly record: string;
  readonly options: CheckedOptions;
  /** Told what the command waits for. */
  readonly report: Report;
  /** Aborted when the job has ended, or this program leaves it. */
  readonly signal: AbortSignal;
}

/** A line that a host, or a process on it, has printed. */
export interface JobLogLine {
  /** The mesh of the host; absent if the line is from no host, but from the command of a batch job. */
  readonly mesh?: string;
  /** The rank of the host in its mesh. */
  readonly rank?: number;
  /** The line, without its end. */
  readonly line: string;
}

/** The options of {@link JobProvider.logs}. */
export interface LogRequest {
  /** Whether to wait for further lines until the job has ended. */
  readonly follow: boolean;
  readonly signal: AbortSignal;
}

/** Tells of something that happened to the job. */
export type Report = (event: Omit<JobEvent, "at">) => void;

/** The options of {@link JobProvider.grow}: those of the job, as for its first hosts. */
export interface GrowOptions extends Pick<Submission, "name" | "lostTimeout" | "record"> {
  /** As `idle` of {@link Submission}, for a job that is recorded. */
  readonly idle: number;
}

/** The time in which the hosts of a mesh must be up. */
export interface StartTimeout {
  /** Milliseconds. */
  readonly ms: number;
  /** The option that sets it, for messages. */
  readonly option: string;
}

/** Gives hosts to jobs. */
export interface JobProvider<A extends Json = Json> {
  /** The name of the provider in records, such as `"slurm"`. */
  readonly kind: string;
  /** The options that select what is allocated. A cached allocation is used again if they are the same. */
  readonly spec: Json;
  /** How the certificates of the hosts are made; null if they need none. */
  readonly tls: TlsSpec | null;
  /** Whether the hosts read and write the folder of a run, so that it must be where they see it. Default: false. */
  readonly sharesFolder?: boolean;
  /** The names and sizes of the meshes, in order of declaration. */
  readonly meshes: Readonly<Record<string, { readonly hosts: number }>>;
  /** The sizes to which the meshes can grow, for whose hosts a run has credentials from its start. Absent: no limit is known. */
  readonly largest?: Readonly<Record<string, { readonly hosts: number }>>;
  /** The time limits of meshes that have one of their own. Absent, or absent for a mesh: `hostTimeout` of the job. */
  readonly startTimeouts?: Readonly<Record<string, StartTimeout>>;
  /** Whether the time for which further hosts wait in a queue does not count for their time limit. Default: false. */
  readonly growsByQueue?: boolean;
  /** Whether the options say how the program reaches the hosts. Absent: false. */
  readonly choosesWay?: boolean;
  /** Whether the hosts are the machine of the program itself, which attaches nothing then. Absent: false. */
  readonly isOwnHost?: boolean;
  /**
   * Submits the job. If this fails, nothing of the job is left.
   * @throws Error with the words of the scheduler
   */
  submit(submission: Submission): Promise<A>;
  /** Finds what a driver has submitted that ended before it could record it. Returns undefined if there is nothing. */
  find(applyId: string, folder: string): Promise<A | undefined>;
  /**
   * Finds the run of the job that was submitted on another machine, and writes its credentials to files of this one. Absent: the provider cannot.
   * @param folderOf returns the folder of the files of a run
   * @param who whether this program is a driver, or only looks
   * @throws Error if what is there cannot be used, or was submitted with other options
   */
  findShared?(folderOf: (applyId: string) => string, who: SharedWith): Promise<JobRecord | undefined>;
  /**
   * Returns the allocation for a program that only looks, so that `watch` changes nothing of what the scheduler has. Absent: `watch`
   * changes nothing anyway.
   */
  lookOnly?(allocation: A): A;
  /** Returns the allocation in which this program itself runs, as the command of a batch job. @param folder that of the run */
  ownAllocation(applyId: string, folder: string): A;
  /**
   * Brings the command of a batch job what it needs of this program: its code and credentials. Resolves when the command does not need this program any
   * more. Absent: it has all that it needs when the job is submitted.
   * @throws JobStartError if the command cannot start; Error if the program cannot be brought to it
   */
  deliver?(allocation: A, delivery: Delivery): Promise<void>;
  /** Returns how the command of a batch job has ended; undefined while it runs, or if it was ended with its job. */
  outcome(allocation: A): Promise<ClientOutcome | undefined>;
  /**
   * Returns how a port of a host is dialled; undefined if the driver connects to the address of the host. Absent: it always does.
   */
  dialPort?(allocation: A, place: HostPlace, port: number): Promise<DialHost | undefined>;
  /** Returns the time in ms since 1970 at which the command of a batch job was started; undefined while it waits for that. */
  startOf(allocation: A): Promise<number | undefined>;
  /** Returns whether an allocation still exists: it waits for hosts, or has them. */
  isAlive(allocation: A): Promise<boolean>;
  /**
   * Resolves with the hosts when they are up, fewer if the scheduler gives no more, and reports what the scheduler says until then.
   * @param isAgain whether the hosts may have been up before, and lost ones come back: one that has failed is waited for
   * @throws JobStartError if the job ends before
   */
  hosts(allocation: A, report: Report, signal: AbortSignal, isAgain?: boolean): Promise<readonly ReadyHost[]>;
  /**
   * Resolves with a host that this driver has lost when it is up again. Absent: lost hosts do not come back.
   * @param lost the host as the driver knew it
   * @param report told of the loss if `watch` does not tell of it
   * @throws Error with the reason if it will not come back
   */
  returned?(allocation: A, lost: ReadyHost, report: Report, signal: AbortSignal): Promise<ReadyHost>;
  /**
   * Gives a running job further hosts, and resolves with them when they are up. A place that has a host already keeps it. Absent: the provider
   * cannot.
   * @throws Error with the reason if a host does not come up; none of the hosts that did not is left
   */
  grow?(
    allocation: A,
    places: readonly HostPlace[],
    options: GrowOptions,
    report: Report,
    signal: AbortSignal,
  ): Promise<readonly ReadyHost[]>;
  /**
   * Returns a function that ends hosts of a mesh from a rank on, after the driver has left them. Absent: the provider cannot.
   * @param mesh a mesh that has grown
   * @throws Error with the reason if these hosts cannot end
   */
  shrink?(allocation: A, mesh: string, hosts: number): Promise<() => Promise<void>>;
  /** Returns the numbers of hosts that a running job has now, by the names of the meshes. Absent: the provider does not know. */
  sizes?(allocation: A): Promise<Readonly<Record<string, number>>>;
  /** Reports what happens to a running job. Resolves with the reason when it has ended, or when `signal` is aborted. */
  watch(allocation: A, report: Report, signal: AbortSignal): Promise<string>;
  /** Stops the machines of the job, which the next driver starts again. Absent: the provider cannot. @throws Error with the words of the scheduler */
  stop?(allocation: A): Promise<void>;
  /** Returns what the scheduler knows of the job, as lines for people: its state and its cost. Absent: nothing. */
  facts?(allocation: A): Promise<readonly string[]>;
  /** Ends the job, and resolves when nothing of it is left. Idempotent. */
  destroy(allocation: A): Promise<void>;
  /** Reads what the hosts have printed, also after the end. */
  logs(allocation: A, request: LogRequest): AsyncIterable<JobLogLine>;
}
