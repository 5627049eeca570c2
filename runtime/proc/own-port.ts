/** The port at which a process on a host takes links itself: those that its daemon sends on, and its driver's. */
import type { HostProof } from "../../generated/proc-agent.js";
import type { Proc } from "../actor/proc.js";
import { LastingAcceptor } from "../link/lasting/accept.js";
import type { NetworkAddress } from "../link/network-address.js";
import { credentialsOf } from "./host-connection.js";
import type { Platform } from "./platform.js";

/**
 * @param at where the host listens: at the same address, at a port that is free
 * @returns the port; rejects when nobody can listen there
 */
export async function openPort(
  platform: Platform,
  proc: Proc,
  proof: HostProof | undefined,
  at: NetworkAddress,
): Promise<number> {
  if (at.kind === "unix") throw new TypeError("cannot open a port: a Unix socket has none");
  const { clock, random } = platform;
  const acceptor = new LastingAcceptor({
    clock,
    random,
    token: proof?.token,
    admit: ({ universe, to }) =>
      universe === proc.universe && to === proc.id
        ? { kind: "open", open: (pipe) => void proc.attach(pipe) }
        : { kind: "refuse", reason: "unknown", text: "there is no such process at this port" },
  });
  const address = { ...at, port: 0 };
  const listener = await platform.listenAt(address, (pipe) => acceptor.accept(pipe), credentialsOf(proof?.tls));
  const got = listener.address;
  if (got.kind === "unix") throw new TypeError("cannot open a port: a Unix socket has none");
  return got.port;
}
