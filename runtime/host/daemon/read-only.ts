/**
 * A read-only driver may ask a host to attach it, to describe itself, and to let it leave. The host refuses each other request. The
 * table names every request, so a new one is decided upon when it is added.
 */
import type { HostAgentActor } from "../../../generated/host-agent.js";
import type { Actor } from "../../actor/actor.js";
import { formatIdentity, type Identity } from "../../link/transport/tls/identity.js";

/** A request of a driver to its agent on a host. */
export type HostRequest = Exclude<keyof HostAgentActor, keyof Actor>;

/** Why a driver is read-only, with what to do about it, as errors say it. */
export type ReadOnlyReason = string;

/** The requests: `true` if a read-only driver may make them, and otherwise what they would do. */
const requests: Readonly<Record<HostRequest, true | string>> = {
  attach: true,
  beat: true,
  leave: true,
  driverEnded: true,
  describe: true,
  processes: true,
  findPublication: true,
  publishedRankState: true,
  start: "start a process",
  portOf: "connect to a process",
  signal: "end a process",
  execute: "run a command",
  endCommand: "end a command",
  freePort: "find a free port",
  hasFile: "look for a file",
  shutdown: "shut the host down",
  publish: "publish a mesh",
  unpublish: "withdraw a published mesh",
  relayCall: "call a published mesh",
  relayStream: "call a published mesh",
  movePublishedSender: "call a published mesh",
  startController: "start a controller",
  handOver: "hand its meshes over to a controller",
  endController: "end a controller",
  hold: "hand its session over to a controller",
  resume: "hand its session over to a controller",
  serve: "have an actor served",
};

/** Returns the reason of a driver whose certificate lets it look only; undefined for others. */
export function readOnlyByCertificate(identity: Identity | undefined): ReadOnlyReason | undefined {
  if (identity?.role !== "viewer") return undefined;
  return `its certificate is that of ${formatIdentity(identity)}; use the certificate of a driver`;
}

/** The reason of a driver that has given up its other rights itself. */
export const readOnlyByOption: ReadOnlyReason =
  "it has attached this host with readOnly; attach the host without this option";

/** @throws Error if a read-only driver may not make the request */
export function checkReadOnlyRequest(request: HostRequest, reason: ReadOnlyReason): void {
  const allowed = requests[request];
  if (allowed !== true) throw new Error(`cannot ${allowed}: this driver is read-only, because ${reason}`);
}
