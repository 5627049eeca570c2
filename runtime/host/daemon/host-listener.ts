/**
 * Connects a daemon to its acceptors: one for connections over the network, whose links survive the loss of a
 * connection, and one for connections from this machine. The caller listens at the addresses and decides when the
 * daemon ends.
 */
import type { HostProof } from "../../../generated/proc-agent.js";
import type { Clock, Random } from "../../link/clock.js";
import { HandshakeAcceptor } from "../../link/handshake/accept.js";
import type { LinkOffer } from "../../link/handshake/message.js";
import { ResumableAcceptor } from "../../link/resumable/accept.js";
import type { ListenAddress, NetworkAddress } from "../../link/transport/network-address.js";
import type { Pipe } from "../../link/transport/pipe.js";
import type { PeerIdentity } from "../../link/transport/tls/identity.js";
import type { ScopedPlatform } from "../../proc/platform/platform.js";
import type { Controllers } from "./controllers.js";
import { HostDaemon, type HostDaemonOptions } from "./host-daemon.js";

export interface HostListenerOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly hostname: string;
  /** The credentials that drivers must have, and that processes of this host present to others. */
  readonly proof: HostProof;
  /** The addresses at which the host listens, as far as its processes may listen there, too. */
  readonly addresses: readonly NetworkAddress[];
  /** Makes a platform for one driver. */
  readonly platform: () => ScopedPlatform;
  /** Makes a connection to another host for a driver. */
  readonly connectSocket: HostDaemonOptions["connectSocket"];
  /** The data connections that drivers make to this host. Absent: they make none. */
  readonly arrived?: NonNullable<HostDaemonOptions["arrived"]>;
  /** Checks that a host of the job of this one listens at an address, before a read-only driver reaches it through this host. */
  readonly checkIsHost?: NonNullable<HostDaemonOptions["checkIsHost"]>;
  /** Gets each line that a process prints, marked with the name of the process, if the host prints them too. */
  readonly print?: (line: string) => void;
  /** The environment that lists the GPUs that a job has been given; absent if processes are given none. */
  readonly gpuEnv?: NodeJS.ProcessEnv;
  /** The time in ms after which the daemon ends if it has no driver; absent: it waits for ever. */
  readonly idle?: number;
  /** The controllers of this host. Absent: it starts none. */
  readonly controllers?: Controllers;
  /** Called with the reason when a connection is refused. @param peer the address of the peer, if it has one */
  readonly onRefused?: (error: Error, peer?: string) => void;
  /** Gets a line about each driver that attaches or leaves this host, or reaches others through it. */
  readonly audit?: (line: string) => void;
}

/** Maximum number of drivers of one daemon at the same time. */
const maxDrivers = 256;

export class HostListener {
  readonly daemon: HostDaemon;
  readonly #networkAcceptor: ResumableAcceptor;
  readonly #localAcceptor: HandshakeAcceptor;

  constructor({ clock, random, onRefused = () => {}, ...host }: HostListenerOptions) {
    const daemon = new HostDaemon({ id: random.id(), clock, ...host, maxDrivers });
    const guard = { clock, random, token: host.proof.token, onRefused };
    const admit = (offer: LinkOffer, identity: PeerIdentity | undefined, peer: string | undefined) =>
      daemon.admit(offer, { identity, peer });
    this.daemon = daemon;
    this.#networkAcceptor = new ResumableAcceptor({ ...guard, admit });
    this.#localAcceptor = new HandshakeAcceptor({
      ...guard,
      decide: async (offer, identity, peer) => ({ ...(await daemon.admit(offer, { identity, peer })), received: 0 }),
    });
  }

  /**
   * Takes a connection.
   * @param peer the address of the peer, if it has one
   * @param identity the identity of the peer in the job of this host, if both have one
   */
  accept(kind: ListenAddress["kind"], pipe: Pipe, peer?: string, identity?: PeerIdentity): void {
    (kind === "unix" ? this.#localAcceptor : this.#networkAcceptor).accept(pipe, peer, identity);
  }

  /** Refuses further connections, ends all sessions, and lets connections through this host end. Never rejects. */
  async end(reason: string): Promise<void> {
    this.#localAcceptor.close();
    this.#networkAcceptor.close();
    await this.daemon.shutdown(reason);
    await this.daemon.channelsEnded();
  }
}
