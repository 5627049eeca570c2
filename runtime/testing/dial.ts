/** Listening and dialling in a simulation: the registered listeners, and the outcome of attempts to connect. */
import type { Location } from "../link/address.js";
import type { Listener as Listening } from "../link/transport/listener.js";
import { formatNetworkAddress, type NetworkAddress } from "../link/transport/network-address.js";
import type { PausablePipe, Pipe } from "../link/transport/pipe.js";
import type { ProcessRef, SimulatedListener, WorldRef } from "./references.js";

/** Time in ms for which a socket that cannot be reached is tried. */
const DIAL_LIMIT_MS = 1000;

/** Time in ms until a kernel repeats an unanswered attempt to connect. Each further pause is twice as long. */
const FIRST_RETRY_MS = 1000;
/** Time in ms after which a kernel gives up an attempt to connect. */
const CONNECT_LIMIT_MS = 127_000;

/** @throws Error if another process listens there */
export function listen({ listeners }: WorldRef, owner: ProcessRef, place: string, accept: (pipe: Pipe) => void): void {
  if (listeners.has(place)) throw new Error(`cannot listen at ${place}: another process listens there`);
  listeners.set(place, { owner, accept });
  owner.addresses.add(place);
}

/** Listens at an address of the network. Port 0 selects a free port. @throws Error if another process listens there */
export function listenAt(
  world: WorldRef,
  owner: ProcessRef,
  given: NetworkAddress,
  accept: (pipe: Pipe) => void,
): Listening {
  const address = given.kind === "unix" || given.port !== 0 ? given : { ...given, port: world.freePort() };
  const place = formatNetworkAddress(address);
  listen(world, owner, place, accept);
  return { address, close: () => void world.listeners.delete(place) };
}

/** Connects to the location of another process on the same machine. */
export function dial(world: WorldRef, from: ProcessRef, location: Location): Promise<Pipe> {
  const { scheduler, network } = world;
  const listener = world.listeners.get(location);
  const reachable = listener?.owner.machine === from.machine ? listener : undefined;
  return new Promise((resolve, reject) => {
    const refuse = (ms: number, why: string) =>
      scheduler.schedule(scheduler.now + ms, from, "refused", () => reject(refusedConnectionError(location, why)));
    if (reachable === undefined) refuse(network.latency(from, from), "no process listens there");
    else if (!network.answers(from, reachable.owner.host)) refuse(DIAL_LIMIT_MS, "it does not answer");
    else connect(world, from, reachable, location).then(resolve, reject);
  });
}

/** Connects to an address as TCP does: repeats unanswered attempts until `signal` aborts or `connectLimit` is over. */
export function connectTo(
  world: WorldRef,
  from: ProcessRef,
  address: NetworkAddress,
  signal: AbortSignal,
): Promise<PausablePipe> {
  const { scheduler, network } = world;
  const place = formatNetworkAddress(address);
  if (address.kind !== "tcp") {
    return Promise.reject(refusedConnectionError(place, "in a simulation hosts have addresses like tcp://name:port"));
  }
  const started = scheduler.now;
  return new Promise((resolve, reject) => {
    const abort = () => {
      const { reason } = signal;
      reject(refusedConnectionError(place, reason instanceof Error ? reason.message : "it was cancelled"));
    };
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    const connected = (pipe: PausablePipe) => {
      if (signal.aborted) pipe.destroy();
      else resolve(pipe);
    };
    const refuse = () => reject(refusedConnectionError(place, "no process listens there"));
    const attempt = (pause: number): void => {
      if (signal.aborted) return;
      if (network.answers(from, address.host)) {
        // The listener is looked up on arrival: a process that was started meanwhile listens by then.
        const arrival = scheduler.now + network.latency(from, { host: address.host });
        scheduler.schedule(arrival, undefined, "asked", () => {
          const listener = world.listeners.get(place);
          if (listener !== undefined) connect(world, from, listener, place).then(connected, reject);
          else scheduler.schedule(scheduler.now + network.latency(from, from), from, "refused", refuse);
        });
      } else if (scheduler.now - started > CONNECT_LIMIT_MS)
        reject(refusedConnectionError(place, "it does not answer"));
      else scheduler.schedule(scheduler.now + pause, from, "connect", () => attempt(pause * 2));
    };
    attempt(FIRST_RETRY_MS);
  });
}

function connect(
  world: WorldRef,
  from: ProcessRef,
  { owner, accept }: SimulatedListener,
  place: string,
): Promise<PausablePipe> {
  const { scheduler, network } = world;
  const there = scheduler.now + network.latency(from, owner);
  const { near, far } = network.connect(from, owner);
  scheduler.schedule(there, owner, "accept", () => accept(far));
  return new Promise((resolve, reject) => {
    scheduler.schedule(there + network.latency(owner, from), from, "connected", () => {
      if (near.ended) reject(refusedConnectionError(place, "the connection was reset"));
      else resolve(near);
    });
  });
}

/** The error codes of the operating system for the reasons that come from it. */
const errorCodes = {
  "no process listens there": "ECONNREFUSED",
  "it does not answer": "ETIMEDOUT",
  "the connection was reset": "ECONNRESET",
} as const;

function refusedConnectionError(place: string, why: string): Error {
  const code = errorCodes[why as keyof typeof errorCodes];
  return Object.assign(new Error(`cannot connect to ${place}: ${why}`), code === undefined ? {} : { code });
}
