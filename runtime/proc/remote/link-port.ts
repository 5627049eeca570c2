/**
 * The port at which a process on a host accepts links itself: those that its daemon redirects, and those of its driver.
 */
import type { HostProof } from "../../../generated/proc-agent.js";
import type { Proc } from "../../actor/proc/proc.js";
import type { ProcId } from "../../link/address.js";
import { ResumableAcceptor } from "../../link/resumable/accept.js";
import type { NetworkAddress } from "../../link/transport/network-address.js";
import type { Pipe } from "../../link/transport/pipe.js";
import { formatIdentity } from "../../link/transport/tls/identity.js";
import type { Platform } from "../platform/platform.js";
import { credentialsOf } from "./credentials.js";

/** The proc that accepts links at the port. */
export interface LinkPortOwner {
  readonly proc: Proc;
  /** The proc that started this proc. */
  readonly parent?: ProcId | undefined;
  /** Takes a link. @param from the proc that has connected */
  accept(pipe: Pipe, from: ProcId): void;
  /** Takes a connection that carries memory bytes only. */
  acceptMemory(pipe: Pipe): void;
}

/**
 * Listens at the address of the host, at a free port.
 * @param at the address at which the host listens
 * @returns the port; rejects when listening is not possible
 */
export async function openLinkPort(
  platform: Platform,
  owner: LinkPortOwner,
  proof: HostProof | undefined,
  at: NetworkAddress,
): Promise<number> {
  if (at.kind === "unix") throw new TypeError("cannot open a port: a Unix socket has none");
  const { clock, random } = platform;
  const { id, universe } = owner.proc;
  const acceptor = new ResumableAcceptor({
    clock,
    random,
    token: proof?.token,
    admit: (offer, identity) => {
      if (offer.use === "tunnel") {
        return { kind: "refuse", reason: "unknown", text: "only the daemon of a host makes connections for drivers" };
      }
      if (identity?.role === "viewer") {
        const text = `${formatIdentity(identity)} only looks; processes accept no links of read-only drivers`;
        return { kind: "refuse", reason: "certificate", text };
      }
      const { driverKey } = proof ?? {};
      if (identity?.role === "driver" && driverKey !== undefined && identity.key !== driverKey) {
        const text = "this process belongs to a driver with another certificate";
        return { kind: "refuse", reason: "certificate", text };
      }
      if (offer.universe !== universe || offer.to !== id) {
        return { kind: "refuse", reason: "unknown", text: "there is no such process at this port" };
      }
      if (identity?.role === "host" && offer.from === owner.parent) {
        const text = `${formatIdentity(identity)} is a host, and the parent of this process is not on a host`;
        return { kind: "refuse", reason: "certificate", text };
      }
      const open = (pipe: Pipe) => (offer.use === "memory" ? owner.acceptMemory(pipe) : owner.accept(pipe, offer.from));
      return { kind: "open", open };
    },
  });
  const address = { ...at, port: 0 };
  const listener = await platform.listenAt(
    address,
    (...accepted) => acceptor.accept(...accepted),
    credentialsOf(proof?.tls),
  );
  const got = listener.address;
  if (got.kind === "unix") throw new TypeError("cannot open a port: a Unix socket has none");
  return got.port;
}
