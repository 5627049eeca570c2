/** What a driver tells its keeper to do, and what the keeper answers. Both sides are of the same version of Viceroy. */
import type { ClientOrder } from "../batch/client.js";
import type { HostPlace } from "../mesh-spec.js";

/** A host to start. */
export interface HostOrder extends HostPlace {
  /** The program and its arguments. */
  readonly command: readonly string[];
  /** The whole environment of the host. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Text for the standard input of the host. Input then stays open as long as the keeper lives. */
  readonly input?: string;
  /** What the standard input of the host gets when the host asks for it. */
  readonly supply?: HostSupply;
  /** The interval in ms at which the standard input of the host gets an empty line. Absent: none. */
  readonly beat?: number;
  /** The address by which the driver reaches the host. Absent: the one that the host prints. */
  readonly route?: string;
  /** The Unix socket on this machine at which the host enrols when it asks for its certificate. Absent: it needs none. */
  readonly enrolmentSocket?: string;
  /** A regular expression for output that means that the driver cannot reach the host. The host is ended then. */
  readonly fatal?: string;
  /** When a host that ends before it is up is started again. Absent: never. */
  readonly retry?: HostRetry;
  /** When a host that was up, and that nobody has ended, is started again. Absent: never. */
  readonly replace?: HostReplacement;
  /**
   * Maximum time in ms for the host to end by itself after the end of its standard input. Absent: it gets SIGTERM at
   * once.
   */
  readonly endLimit?: number;
}

/** A start that fails because others start at the same time is tried again. */
export interface HostRetry {
  /** A regular expression for the output of such a start. */
  readonly said: string;
  /** The times in ms before each further start. Each is made up to a half longer, so that hosts do not meet again. */
  readonly pauses: readonly number[];
}

/** The way in which a lost host is replaced. */
export interface HostReplacement {
  /** The time in ms in which it must be up again. */
  readonly limit: number;
  /** The mark of the processes of the host on this machine (marked-processes.ts), which are ended before. */
  readonly mark: string;
}

/** A file that a host may need. */
export interface HostSupply {
  /** The line with which the host asks for the file. */
  readonly request: string;
  readonly file: string;
}

/** The order of a driver to its keeper. */
export interface KeeperOrder {
  readonly applyId: string;
  /** The private folder of the keeper's socket and the sockets of its hosts. It exists. The keeper removes it. */
  readonly directory: string;
  /** The folder of the log files. Without a cache, the keeper removes it at the end. */
  readonly logs: string;
  /** The time in ms for which the hosts stay without a driver; null if they end with the first driver. */
  readonly idle: number | null;
  /** How the certificates of the hosts are signed; absent if they need none. */
  readonly certificates?: { readonly credentials: string; readonly lifetime: number };
  /** Maximum number of hosts that are being started at the same time, and have printed nothing yet. */
  readonly parallel: number;
  readonly hosts: readonly HostOrder[];
  /** The command of a batch job, with its whole environment. The keeper ends everything when it has ended. */
  readonly client?: ClientOrder;
}

/** What a keeper answers to `GET /state`. */
export interface KeeperState {
  readonly hosts: readonly KeptHostInfo[];
  /** Whether a batch job runs its command, which alone decides when the job ends. */
  readonly isBatch: boolean;
}

/** The state of a host. A host that is `lost` is being started again. */
export type KeptState = "waiting" | "starting" | "up" | "lost" | "ended";

/** A host as its keeper sees it. */
export interface KeptHostInfo extends HostPlace {
  readonly state: KeptState;
  /** How many times it was replaced. */
  readonly incarnation: number;
  /** The time in ms from its start until it was up. */
  readonly took?: number;
  /** The first address at which it listens, once it is up. */
  readonly address?: string;
  /** The address by which the driver reaches it, if that is another one. */
  readonly route?: string;
  /** Why it has ended, with the end of its output. */
  readonly reason?: string;
  /** Whether the job has given it back. Absent: no. */
  readonly isGivenBack?: true;
}

/** A line of the answer to `GET /events`: first the state of each host, then each change. */
export interface KeeperEvent {
  readonly host?: KeptHostInfo;
  /** The job has ended, and why. No event follows. */
  readonly ended?: string;
}

/** The body of `POST /lost`: a driver has lost a host, of which it knew this incarnation. */
export interface LostHost extends HostPlace {
  readonly incarnation: number;
}

/** The reason for the end of a host that the job has given back. */
export const givenBack = "job.resize has given it back";

/** The name of the keeper's socket in its directory. */
export const keeperSocket = "keeper.sock";

/** Why a job has ended whose hosts have ended. The events before tell why they have. */
export const allHostsEnded = "all its hosts have ended";
