/**
 * The daemon of a host: it admits drivers, each with a session of its own, and ends the sessions when it is shut down.
 * Listening and the handshake are in `host-listener.ts` and `link/`.
 */
import type { HostUse } from "../../../generated/host-agent.js";
import type { HostProof } from "../../../generated/proc-agent.js";
import type { ProcId } from "../../link/address.js";
import type { Clock, Timer } from "../../link/clock.js";
import type { HandshakeReason } from "../../link/handshake/errors.js";
import type { LinkOffer } from "../../link/handshake/message.js";
import type { Admission } from "../../link/resumable/accept.js";
import type { NetworkAddress, SocketAddress } from "../../link/transport/network-address.js";
import type { PausablePipe, Pipe } from "../../link/transport/pipe.js";
import { formatIdentity, type PeerIdentity } from "../../link/transport/tls/identity.js";
import type { ArrivedConnections } from "../../link/tunnel/arrived-connections.js";
import { TunnelServer } from "../../link/tunnel/serve.js";
import type { ScopedPlatform } from "../../proc/platform/platform.js";
import { type Controllers, noControllers } from "./controllers.js";
import { type DriverOrigin, describeOrigin } from "./driver-origin.js";
import { DriverSession, type SessionOwner } from "./driver-session.js";
import type { PublicationRelay } from "./publication-relay.js";
import { Publications } from "./publications.js";
import { withoutReach } from "./read-only-platform.js";

export interface HostDaemonOptions {
  readonly id: bigint;
  readonly hostname: string;
  readonly proof: HostProof;
  /** Makes a platform for one session. */
  readonly platform: () => ScopedPlatform;
  /** The addresses at which the host listens, as far as its processes may listen there, too. */
  readonly addresses: readonly NetworkAddress[];
  /** Gets each line that a process prints, marked with the name of the process, if the host prints them too. */
  readonly print?: (line: string) => void;
  /** The machine on which commands of drivers run; absent where there is no real one. */
  readonly machine?: SessionOwner["machine"];
  /** The environment that lists the GPUs that a job has been given; absent if processes are given none. */
  readonly gpuEnv?: NodeJS.ProcessEnv;
  /** Makes a connection to another host for a driver. */
  readonly connectSocket: (address: SocketAddress, signal: AbortSignal) => Promise<PausablePipe>;
  /** The data connections that drivers make to this host. Absent: they make none. */
  readonly arrived?: ArrivedConnections;
  /**
   * Checks that a host of the job of this one listens at an address. Rejects if not. Absent: read-only drivers reach no other hosts
   * through this one.
   */
  readonly checkIsHost?: (address: SocketAddress, signal: AbortSignal) => Promise<void>;
  /** Maximum number of drivers at the same time, and of tunnels. Others are refused. */
  readonly maxDrivers: number;
  readonly clock: Clock;
  /** The time in ms after which the daemon ends if it has no driver; absent: it waits for ever. */
  readonly idle?: number;
  /** The controllers of this host. Absent: it starts none. */
  readonly controllers?: Controllers;
  /** Gets a line about each driver that attaches or leaves this host, or reaches others through it. */
  readonly audit?: (line: string) => void;
}

/**
 * Maximum time in ms that the link to a driver may be without a connection. It is long because missing beats end a
 * session earlier.
 */
const maxDisconnectMs = 600_000;

/** The time in ms that a host which ends gives connections through it to end, and the interval at which it looks. */
const channelsLimit = 500;
const channelsInterval = 5;

export class HostDaemon implements SessionOwner {
  readonly id: bigint;
  readonly hostname: string;
  readonly proof: HostProof;
  readonly publications = new Publications<PublicationRelay>();
  readonly print: ((line: string) => void) | undefined;
  readonly gpuEnv: NodeJS.ProcessEnv | undefined;
  readonly controllers: Controllers;
  readonly machine: SessionOwner["machine"];
  readonly audit: (line: string) => void;
  readonly #options: HostDaemonOptions;
  readonly #tunnels: TunnelServer;
  /** The tunnels of read-only drivers, which lead to hosts of the job only. */
  readonly #viewerTunnels: TunnelServer;
  readonly #sessions = new Map<ProcId, { readonly universe: bigint; readonly session: DriverSession }>();
  #resolveEnded: ((reason: string) => void) | undefined;
  #stopping: Promise<void> | undefined;
  #idleTimer: Timer | undefined;
  #resolveUnused: (() => void) | undefined;
  /** Resolves with the reason when the daemon was shut down and all processes have ended. */
  readonly ended: Promise<string>;

  constructor(options: HostDaemonOptions) {
    this.id = options.id;
    this.hostname = options.hostname;
    this.proof = options.proof;
    this.print = options.print;
    this.gpuEnv = options.gpuEnv;
    this.controllers = options.controllers ?? noControllers;
    this.machine = options.machine;
    this.audit = options.audit ?? (() => {});
    this.#options = options;
    const { clock, arrived } = options;
    const data = arrived === undefined ? {} : { arrived };
    this.#tunnels = new TunnelServer({ clock, connect: options.connectSocket, ...data });
    this.#viewerTunnels = new TunnelServer({ clock, connect: (...to) => this.#connectToHost(...to), ...data });
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.#awaitDriver();
  }

  /**
   * Decides about a connection that has proved to come from a driver's process tree.
   * @param origin the address of the dialler, and its identity in the job of this host, as far as it has them
   */
  admit(offer: LinkOffer, origin: DriverOrigin = {}): Admission | Promise<Admission> {
    const { universe, from, to, first } = offer;
    const { identity } = origin;
    if (this.#stopping !== undefined) return refusedAdmission("busy", "the host is being shut down");
    if (offer.use === "tunnel") return this.#admitTunnel(origin);
    const known = this.#sessions.get(to);
    // Processes of other hosts exchange messages with the processes here. They do not act for a driver.
    if (identity?.role === "host" && (!offer.direct || from === known?.session.driver)) {
      const text = `${formatIdentity(identity)} is a host; only the driver and the controller of the job may attach`;
      return refusedAdmission("certificate", text);
    }
    if (identity?.role === "viewer" && offer.direct && known === undefined) {
      const text = `${formatIdentity(identity)} only looks; it reaches no processes`;
      return refusedAdmission("certificate", text);
    }
    if (known !== undefined && !mayJoin(identity, known.session)) {
      return refusedAdmission("certificate", "the agent belongs to a driver with another certificate");
    }
    if (offer.use === "memory" && (known !== undefined || !offer.direct)) {
      return refusedAdmission("unknown", "the agent of a host has no memory");
    }
    const open = (pipe: Pipe) => this.#openSession(offer, origin, pipe, known?.session);
    if (known !== undefined) {
      if (known.universe !== universe)
        return refusedAdmission("unknown", "there is no such agent for this tree of processes");
      // A link of another process ends by its own limit.
      return from === known.session.driver ? { kind: "open", giveUpMs: maxDisconnectMs, open } : { kind: "open", open };
    }
    // Only the connection of the driver itself creates an agent; other processes of its tree may connect sooner.
    if (offer.direct) return this.#redirect(offer);
    if (!first) return refusedAdmission("gone", "the host has ended its session with this driver");
    const { size } = this.#sessions;
    if (size >= this.#options.maxDrivers)
      return refusedAdmission("busy", `the host has reached its limit of ${size} drivers`);
    if (identity?.role === "viewer" && this.#viewerCount >= this.#mostViewers) {
      const text = `the host has reached its limit of ${this.#mostViewers} read-only drivers`;
      return refusedAdmission("busy", text);
    }
    return { kind: "open", giveUpMs: maxDisconnectMs, open };
  }

  /** Lets a driver make connections through this host: a read-only one to hosts of its job only. Hosts make their own ones. */
  #admitTunnel(origin: DriverOrigin): Admission {
    const { identity } = origin;
    if (identity?.role === "host") {
      const text = `${formatIdentity(identity)} is a host; only drivers and controllers reach hosts through another one`;
      return refusedAdmission("certificate", text);
    }
    const isReadOnly = identity?.role === "viewer";
    const tunnels = isReadOnly ? this.#viewerTunnels : this.#tunnels;
    const most = isReadOnly ? this.#mostViewers : this.#options.maxDrivers;
    if (tunnels.tunnelCount >= most)
      return refusedAdmission("busy", `the host has reached its limit of ${most} drivers that reach others through it`);
    const open = (pipe: Pipe) => {
      this.audit(
        `a ${isReadOnly ? "read-only " : ""}driver reaches other hosts through this one${describeOrigin(origin)}`,
      );
      tunnels.accept(pipe);
    };
    return { kind: "open", open };
  }

  /**
   * Connects to a host of the job. A driver that may run programs here reaches every address anyway, and one that only looks shall
   * not reach anything else through this host. Whatever is at another address, the driver is told the same.
   */
  async #connectToHost(address: SocketAddress, signal: AbortSignal): Promise<PausablePipe> {
    const { checkIsHost, connectSocket } = this.#options;
    try {
      if (checkIsHost === undefined) throw new Error("this host cannot tell which addresses are those of hosts");
      await checkIsHost(address, signal);
      return await connectSocket(address, signal);
    } catch (cause) {
      const text = "no host of the job answers there, and a read-only driver reaches nothing else through this host";
      throw new HostNotFoundError(text, { cause });
    }
  }

  /** Opens an admitted link. Sessions may have ended, or the daemon may be full, since the admission. */
  #openSession(
    { universe, from, to }: LinkOffer,
    origin: DriverOrigin,
    pipe: Pipe,
    known: DriverSession | undefined,
  ): void {
    const found = this.#sessions.get(to);
    const full = this.#sessions.size >= this.#options.maxDrivers;
    if (found === undefined && (known !== undefined || full || this.#stopping !== undefined)) {
      pipe.destroy(new Error("the host has ended its session with this driver, or has reached its limit of drivers"));
      return;
    }
    // Another connection may have made it meanwhile.
    if (found !== undefined && !mayJoin(origin.identity, found.session)) {
      pipe.destroy(new Error("the agent belongs to another driver"));
      return;
    }
    const session = found?.session ?? this.#createSession(universe, to, from, origin);
    if (found === undefined) this.#sessions.set(to, { universe, session });
    this.#idleTimer?.cancel();
    session.accept(pipe, from, origin);
  }

  /** The largest number of read-only drivers. Those who only look must not keep other drivers out. */
  get #mostViewers(): number {
    return Math.ceil(this.#options.maxDrivers / 4);
  }

  get #viewerCount(): number {
    return [...this.#sessions.values()].filter(({ session }) => session.identity?.role === "viewer").length;
  }

  #createSession(universe: bigint, id: ProcId, driver: ProcId, { identity }: DriverOrigin): DriverSession {
    const platform = this.#options.platform();
    const own = identity?.role === "viewer" ? withoutReach(platform) : platform;
    return new DriverSession(own, { universe, id, driver, identity }, this);
  }

  describe(): HostUse {
    const drivers = [...this.#sessions.values()].flatMap(({ session: { seen } }) => (seen === undefined ? [] : [seen]));
    return { drivers, published: this.publications.names };
  }

  /** Redirects a connection to the port of the requested process. */
  async #redirect(offer: LinkOffer): Promise<Admission> {
    for (const { universe, session } of this.#sessions.values()) {
      const port = universe === offer.universe ? await session.portOf(offer.to) : undefined;
      if (port !== undefined) return { kind: "redirect", port };
    }
    return refusedAdmission("unknown", "there is no such process here, or it does not listen");
  }

  /**
   * With several addresses of a kind it is unknown which one a driver uses. Then only a wildcard address, which stands
   * for all, is suitable.
   */
  addressFor(kind: NetworkAddress["kind"]): NetworkAddress | undefined {
    const all = this.#options.addresses.filter((address) => address.kind === kind);
    return all.length === 1 ? all[0] : all.find((address) => isWildcard(address));
  }

  sessionEnded(session: DriverSession): void {
    this.#sessions.delete(session.id);
    if (this.#sessions.size > 0) return;
    this.#resolveUnused?.();
    this.#awaitDriver();
  }

  /** Resolves when no driver is left, or after a time in ms. */
  unused(limit: number): Promise<void> {
    if (limit <= 0 || this.#sessions.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#resolveUnused = resolve;
      this.#options.clock.after(limit, resolve);
    });
  }

  /** Ends the daemon if no driver comes in time. */
  #awaitDriver(): void {
    const { idle, clock } = this.#options;
    if (idle === undefined || this.#stopping !== undefined) return;
    this.#idleTimer?.cancel();
    this.#idleTimer = clock.after(idle, () => void this.shutdown(`it had no driver for ${idle} ms`));
  }

  /** @param by the session whose driver asks for the shutdown, if one does */
  shutdown(reason: string, by?: DriverSession): Promise<void> {
    this.#idleTimer?.cancel();
    this.#stopping ??= this.#shutdown(reason, by);
    return this.#stopping;
  }

  /**
   * Resolves when no driver has a connection through this host any more, or after a short time. A driver that has shut this host down
   * through itself gets the answer by such a connection. Never rejects.
   */
  async channelsEnded(): Promise<void> {
    const { clock } = this.#options;
    const end = clock.now() + channelsLimit;
    const areOpen = () => this.#tunnels.channelCount + this.#viewerTunnels.channelCount > 0;
    while (areOpen() && clock.now() < end) await new Promise<void>((resolve) => clock.after(channelsInterval, resolve));
  }

  async #shutdown(reason: string, by: DriverSession | undefined): Promise<void> {
    const sessions = [...this.#sessions.values()].map(({ session }) => session);
    const controllersEnded = this.controllers.endAll();
    await Promise.all(sessions.map((session) => (session === by ? session.end() : session.evict(reason))));
    await controllersEnded;
    for (const session of sessions) session.closeSoon(reason);
    this.#resolveEnded?.(by === undefined ? reason : "a driver has shut it down");
  }
}

/** Thrown when a read-only driver asks for a connection to something else than a host of its job. */
class HostNotFoundError extends Error {
  override readonly name = "HostNotFoundError";
  /** Drivers try again, because a host may be starting. */
  readonly code = "ECONNREFUSED";
}

/**
 * Returns whether a process may connect to the agent of a session. Processes on hosts may, and the controller that takes the
 * place of the driver. A driver may if it has the key of the one whose session it is.
 */
function mayJoin(identity: PeerIdentity | undefined, { identity: driver }: DriverSession): boolean {
  if (identity?.role !== "driver" && identity?.role !== "viewer") return true;
  return identity.role === driver?.role && identity.key === driver.key;
}

function refusedAdmission(reason: HandshakeReason, text: string): Admission {
  return { kind: "refuse", reason, text };
}

function isWildcard(address: NetworkAddress): boolean {
  return address.kind !== "unix" && (address.host === "0.0.0.0" || address.host === "::");
}
