/** Tests of who gets no tunnel, and of what cannot be reached through one. */
import { expect, test } from "vitest";
import { HostDaemon } from "../../../runtime/host/daemon/host-daemon.js";
import { systemClock } from "../../../runtime/link/clock.js";
import type { LinkOffer } from "../../../runtime/link/handshake/message.js";
import type { Admission } from "../../../runtime/link/resumable/accept.js";
import { inProcessPipePair } from "../../../runtime/link/transport/in-process/pipe.js";
import { parseNetworkAddress } from "../../../runtime/link/transport/network-address.js";
import { parseIdentity } from "../../../runtime/link/transport/tls/identity.js";
import { makeNodePlatform } from "../../../runtime/proc/platform/node-platform.js";
import { DriverGateway } from "../../../runtime/proc/remote/driver-gateway.js";
import { openLinkPort } from "../../../runtime/proc/remote/link-port.js";
import { World } from "../../actor/world.js";

const offer: LinkOffer = {
  universe: 1n,
  from: 2n,
  to: 0n,
  link: 3n,
  first: true,
  direct: true,
  use: "tunnel",
  received: 0,
};

function daemon(maxDrivers: number): HostDaemon {
  return new HostDaemon({
    id: 1n,
    hostname: "h",
    proof: {},
    platform: () => makeNodePlatform(),
    addresses: [],
    connectSocket: () => new Promise(() => {}),
    maxDrivers,
    clock: systemClock,
  });
}

test("a host of a job gets no tunnel, and its driver does", async () => {
  const host = { ...parseIdentity("viceroy://job/hosts/mesh/0"), key: "a" };
  expect(await daemon(1).admit(offer, { identity: host })).toEqual({
    kind: "refuse",
    reason: "certificate",
    text: "viceroy://job/hosts/mesh/0 is a host; only drivers and controllers reach hosts through another one",
  });
  expect(
    await daemon(1).admit(offer, { identity: { ...parseIdentity("viceroy://job/driver"), key: "b" } }),
  ).toMatchObject({
    kind: "open",
  });
});

test("viewers that look through a host, or at it, do not keep drivers out", async () => {
  const viewer = { ...parseIdentity("viceroy://job/viewer"), key: "a" };
  const driver = { ...parseIdentity("viceroy://job/driver"), key: "b" };
  const host = daemon(4);
  const open = (admission: Admission) => {
    if (admission.kind === "open") admission.open(inProcessPipePair()[0]);
    return admission;
  };
  expect(open(await host.admit(offer, { identity: viewer }))).toMatchObject({ kind: "open" });
  expect(await host.admit(offer, { identity: viewer })).toEqual({
    kind: "refuse",
    reason: "busy",
    text: "the host has reached its limit of 1 drivers that reach others through it",
  });
  expect(await host.admit(offer, { identity: driver })).toMatchObject({ kind: "open" });
  const attaching = (to: bigint) => ({ ...offer, use: "link", direct: false, first: true, to }) as const;
  expect(open(await host.admit(attaching(1n), { identity: viewer }))).toMatchObject({ kind: "open" });
  expect(await host.admit(attaching(2n), { identity: viewer })).toEqual({
    kind: "refuse",
    reason: "busy",
    text: "the host has reached its limit of 1 read-only drivers",
  });
  expect(await host.admit(attaching(3n), { identity: driver })).toMatchObject({ kind: "open" });
  await host.shutdown("the test has ended");
});

test("a host that forwards for as many drivers as it may takes no more", async () => {
  const full = daemon(1);
  const admission = await full.admit(offer);
  if (admission.kind !== "open") throw new Error(admission.kind);
  admission.open(inProcessPipePair()[0]);
  expect(await full.admit(offer)).toEqual({
    kind: "refuse",
    reason: "busy",
    text: "the host has reached its limit of 1 drivers that reach others through it",
  });
});

test("a process on a host makes no connections for drivers", async () => {
  const platform = makeNodePlatform();
  const { proc } = new World().proc("asked");
  const owner = { proc, accept() {}, acceptMemory() {} };
  const port = await openLinkPort(platform, owner, {}, parseNetworkAddress("tcp://127.0.0.1:0"));
  const address = parseNetworkAddress(`tcp://127.0.0.1:${port}`);
  const gateway = new DriverGateway(platform, proc, { candidates: () => [{ address }], proof: {}, absence: 1000 });
  const connect = (to: string) => gateway.connect(parseNetworkAddress(to), undefined, new AbortController().signal);
  await expect(connect("tcp://127.0.0.1:9")).rejects.toThrow(
    `cannot reach the driver gateway tcp://127.0.0.1:${port}: only the daemon of a host makes connections for drivers`,
  );
  await expect(connect("unix:///run/host.sock")).rejects.toThrow(
    "cannot reach unix:///run/host.sock through a driver gateway: it is on another machine",
  );
});
