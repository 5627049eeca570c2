/** Tests of which failed connections to hosts are attempted again. */
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { HandshakeError } from "../../../runtime/link/handshake/errors.js";
import type { NetworkAddress } from "../../../runtime/link/transport/network-address.js";
import { connectPipe } from "../../../runtime/link/transport/socket/pipe.js";
import { makeNodePlatform } from "../../../runtime/proc/platform/node-platform.js";
import { connectToHost, isTransient } from "../../../runtime/proc/remote/host-connection.js";
import { World } from "../../actor/world.js";

const addresses: readonly NetworkAddress[] = [
  { kind: "unix", path: "/run/host.sock" },
  { kind: "tcp", host: "10.0.0.7", port: 7000 },
];

test.each(addresses)("a host that does not answer in time is attempted again: $kind", async (address) => {
  const silent = (_to: unknown, _tls: unknown, signal?: AbortSignal) =>
    connectPipe(() => new Socket(), "connect", "the host", signal);
  const platform = { ...makeNodePlatform(), connect: silent };
  const target = { agent: 9n, address, proof: undefined };
  const error = await connectToHost(platform, new World().root.proc, target, 5).catch((reason: unknown) => reason);
  expect((error as Error).message).toBe("cannot connect to the host: it did not answer within 5 ms");
  expect(isTransient(error)).toBe(true);
});

test.each([
  ["a full queue of connections", Object.assign(new Error("connect EAGAIN /run/host.sock"), { code: "EAGAIN" }), true],
  ["a host that is starting", Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }), true],
  ["a host that has reached its limit of drivers", new HandshakeError("busy", "the host is full"), true],
  ["another token", new HandshakeError("token", "the token is wrong"), false],
  ["a socket of somebody else", Object.assign(new Error("connect EACCES /run/host.sock"), { code: "EACCES" }), false],
])("whether a connection is attempted again depends on the reason: %s", (_what, error, expected) => {
  expect(isTransient(error)).toBe(expected);
});
