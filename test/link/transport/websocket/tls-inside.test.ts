/** Tests of TLS between the two ends of a WebSocket, whatever is between them. */
import { copyFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { systemClock, systemRandom } from "../../../../runtime/link/clock.js";
import { offerLink } from "../../../../runtime/link/handshake/dial.js";
import { secureConnection, takeSecurely } from "../../../../runtime/link/transport/connect.js";
import type { Pipe } from "../../../../runtime/link/transport/pipe.js";
import { FileCredentials, type TlsFiles } from "../../../../runtime/link/transport/tls/credentials.js";
import { dialWebSocket, listenWebSocket } from "../../../../runtime/link/transport/websocket/index.js";
import { until } from "../../../proc/until.js";
import { ByteRecorder } from "../byte-recorder.js";
import { Authority } from "../tls/certificates.js";
import { frame, noSignal, upgradeRaw } from "./ends.js";

let trusted: Authority;
let other: Authority;
beforeAll(() => {
  trusted = new Authority();
  other = new Authority();
});
afterAll(() => {
  trusted.remove();
  other.remove();
});

async function serveTls(files: TlsFiles) {
  const accepted: Pipe[] = [];
  const refusals: string[] = [];
  const refused = (error: Error) => refusals.push(error.message);
  const accept = await takeSecurely(new FileCredentials(files), (pipe) => accepted.push(pipe), refused);
  const limits = { clock: systemClock, halfOpen: 64, handshakeMs: 60_000 };
  const listener = await listenWebSocket({
    address: { kind: "ws", host: "127.0.0.1", port: 0 },
    limits,
    accept,
    refused,
  });
  onTestFinished(() => {
    listener.close();
    for (const pipe of accepted) pipe.destroy();
  });
  return { port: listener.address.port, accepted, refusals };
}

async function dialTls(port: number, files: TlsFiles) {
  const pipe = await dialWebSocket(new URL(`ws://127.0.0.1:${port}`), {}, noSignal());
  const address = { kind: "tls", host: "localhost", port } as const;
  return secureConnection(pipe, address, new FileCredentials(files), noSignal());
}

test("bytes of any number pass in both directions, and both ends are told of the close", async () => {
  const { port, accepted } = await serveTls(trusted.issue("host"));
  const near = await dialTls(port, trusted.issue("driver"));
  await until(() => accepted.length === 1);
  const [here, there] = [new ByteRecorder(near), new ByteRecorder(accepted[0]!)];
  const large = Buffer.alloc(3_000_000).map((_, i) => i * 7 + (i >> 8));
  near.write([large], () => {});
  accepted[0]!.write([large], () => {});
  await Promise.all([here.bytes(large.length), there.bytes(large.length)]);
  expect(here.all.equals(large) && there.all.equals(large)).toBe(true);
  near.close();
  await Promise.all([here.end, there.end]);
});

test("a driver of another authority is told why it is turned away, and the host notes it", async () => {
  const { port, accepted, refusals } = await serveTls(trusted.issue("host"));
  const pipe = await dialTls(port, { ...other.issue("driver"), ca: trusted.issue("x").ca });
  const offer = {
    universe: 1n,
    from: 2n,
    to: 0n,
    direct: true,
    use: "tunnel",
    link: 3n,
    first: true,
    received: 0,
  } as const;
  await expect(offerLink(pipe, offer, { clock: systemClock, random: systemRandom })).rejects.toThrow(
    "the host does not trust the certificate of this process: UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  );
  expect(refusals).toEqual(["it has shown no certificate that can be trusted: UNABLE_TO_VERIFY_LEAF_SIGNATURE"]);
  expect(accepted).toEqual([]);
});

test("a driver without TLS is told that the host speaks it", async () => {
  const { port, refusals } = await serveTls(trusted.issue("host"));
  const pipe = await dialWebSocket(new URL(`ws://127.0.0.1:${port}`), {}, noSignal());
  const offer = {
    universe: 1n,
    from: 2n,
    to: 0n,
    direct: true,
    use: "tunnel",
    link: 3n,
    first: true,
    received: 0,
  } as const;
  await expect(offerLink(pipe, offer, { clock: systemClock, random: systemRandom })).rejects.toThrow(
    "the host speaks TLS and this process does not; give certificates, and use tls:// in its address unless it is the URL of a WebSocket",
  );
  expect(refusals).toEqual(["it does not speak TLS"]);
});

test("peers that end in the middle of the TLS handshake, or send something else, do no harm", async () => {
  const { port, accepted, refusals } = await serveTls(trusted.issue("host"));
  for (const bytes of [
    Buffer.from([22, 3, 1, 2, 0, 1, 0]),
    Buffer.from("GET / HTTP/1.1\r\n\r\n"),
    Buffer.alloc(100_000, 255),
  ]) {
    const raw = await upgradeRaw(port);
    raw.socket.write(frame(2, bytes), () => raw.socket.resetAndDestroy());
  }
  await until(() => refusals.length >= 2);
  const near = await dialTls(port, trusted.issue("driver"));
  await until(() => accepted.length === 1);
  near.destroy();
});

test("new files of a certificate are used for later connections, and files that cannot be used are not", async () => {
  const files = { ...trusted.issue("host") };
  const own = { ...files, cert: path.join(trusted.folder, "live.pem"), key: path.join(trusted.folder, "live.key") };
  copyFileSync(files.cert, own.cert);
  copyFileSync(files.key, own.key);
  const { port, accepted, refusals } = await serveTls(own);
  (await dialTls(port, trusted.issue("driver"))).destroy();
  writeFileSync(own.cert, "no certificate");
  (await dialTls(port, trusted.issue("driver"))).destroy();
  expect(refusals[0]).toMatch(/^cannot use the files for TLS that have changed: .*; those from before stay in use$/);
  const foreign = other.issue("host");
  copyFileSync(foreign.cert, own.cert);
  copyFileSync(foreign.key, own.key);
  await expect(dialTls(port, trusted.issue("driver"))).rejects.toThrow("does not trust the certificate of the host");
  await until(() => accepted.length === 2);
});
