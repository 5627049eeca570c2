/** Tests that all transports carry the same bytes and report failed connections in the same way. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { connectTo, listenAt } from "../../../runtime/link/transport/connect.js";
import type { Listener } from "../../../runtime/link/transport/listener.js";
import {
  formatNetworkAddress,
  type NetworkAddress,
  parseNetworkAddress,
} from "../../../runtime/link/transport/network-address.js";
import type { Pipe } from "../../../runtime/link/transport/pipe.js";
import { FileCredentials } from "../../../runtime/link/transport/tls/credentials.js";
import { until } from "../../proc/until.js";
import { drawing } from "../resumable/cut-world.js";
import { ByteRecorder } from "./byte-recorder.js";
import { Authority } from "./tls/certificates.js";

const folder = mkdtempSync(path.join(tmpdir(), "viceroy-transports-"));
const authority = new Authority();
const credentials = new FileCredentials(authority.issue("host"));
const listeners: Listener[] = [];

afterAll(() => {
  for (const listener of listeners) listener.close();
  rmSync(folder, { recursive: true });
  authority.remove();
});

async function pair(address: NetworkAddress): Promise<[Pipe, Pipe]> {
  let taken: (pipe: Pipe) => void = () => {};
  const accepted = new Promise<Pipe>((resolve) => {
    taken = resolve;
  });
  const listener = await listenAt(address, taken, { credentials });
  listeners.push(listener);
  const near = await connectTo(listener.address, credentials);
  return [near, await accepted];
}

describe.each([
  ["unix", `unix://${folder}/pipe.sock`],
  ["tcp", "tcp://127.0.0.1:0"],
  ["tls", "tls://127.0.0.1:0"],
] as const)("a pipe over %s", (kind, text) => {
  const address = parseNetworkAddress(text.replace("pipe", `pipe-${kind}`));

  test("carries small and large writes in both directions, and the close of each end", async () => {
    const [near, far] = await pair(address);
    const here = new ByteRecorder(near);
    const there = new ByteRecorder(far);
    const large = Buffer.alloc(5_000_000).map((_, i) => i * 7 + (i >> 8));
    let done = 0;
    near.write([Buffer.from("a"), large, Buffer.from("z")], () => done++);
    far.write([large.subarray(0, 100_000)], () => done++);
    await there.bytes(large.length + 2);
    await here.bytes(100_000);
    expect(there.all.subarray(1, -1).equals(large)).toBe(true);
    expect(here.all.equals(large.subarray(0, 100_000))).toBe(true);
    near.write([Buffer.from("last words")], () => done++);
    near.close();
    await there.end;
    expect(there.all.toString("latin1").endsWith("zlast words")).toBe(true);
    expect(done).toBe(3);
    far.close();
    await here.end;
  });

  test("delivers short and long writes to a slow reader in order, even if their memory is reused", async () => {
    const [near, far] = await pair(kind === "unix" ? { kind, path: `${folder}/order.sock` } : address);
    const there = new ByteRecorder(far);
    const random = drawing(11);
    const sent: Buffer[] = [];
    let done = 0;
    let size = 0;
    let writes = 0;
    // One burst is more than a socket takes, because the reader does not run during the same turn.
    for (let burst = 0; burst < 8; burst++) {
      for (const end = size + 1_000_000; size < end; writes++) {
        const chunks = Array.from({ length: 1 + Math.floor(random.number() * 3) }, () =>
          Buffer.alloc(1 + Math.floor(random.number() ** 3 * 40_000)).map(() => random.number() * 256),
        );
        for (const chunk of chunks) {
          sent.push(Buffer.from(chunk));
          size += chunk.length;
        }
        near.write(chunks, () => {
          done++;
          for (const chunk of chunks) chunk.fill(0);
        });
      }
      await there.bytes(size - Math.floor(random.number() * 500_000));
    }
    await there.bytes(size);
    await until(() => done === writes);
    expect(there.all.equals(Buffer.concat(sent))).toBe(true);
    far.close();
  });

  test("ends when its other end is destroyed, and completes later writes", async () => {
    const [near, far] = await pair(kind === "unix" ? { kind, path: `${folder}/destroyed.sock` } : address);
    const here = new ByteRecorder(near);
    far.destroy();
    await here.end;
    let done = false;
    near.write([Buffer.from("too late")], () => {
      done = true;
    });
    await until(() => done);
  });

  test("cannot be opened to an address at which no process listens", async () => {
    const free = await listenAt(kind === "unix" ? { kind, path: `${folder}/free.sock` } : address, () => {}, {
      credentials,
    });
    const closed = free.address;
    free.close();
    const error = await connectTo(closed, credentials).then(undefined, (e) => e);
    expect(error.code).toBe(kind === "unix" ? "ENOENT" : "ECONNREFUSED");
  });

  test("cannot be opened with an aborted signal, and the error gives the reason of the abort", async () => {
    const giveUp = new AbortController();
    giveUp.abort(new Error("it did not answer within 5000 ms"));
    const name = formatNetworkAddress({ ...address, ...(kind === "unix" ? {} : { port: 1 }) }).replace("unix://", "");
    const error = await connectTo(
      parseNetworkAddress(kind === "unix" ? `unix://${name}` : name),
      credentials,
      giveUp.signal,
    ).then(undefined, (e) => e);
    expect(error.message).toBe(`cannot connect to ${name}: it did not answer within 5000 ms`);
  });
});

test("listening at an address in use fails with an error that names the address", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  for (const kind of ["tcp", "tls"] as const) {
    const error = await listenAt({ kind, host: "127.0.0.1", port }, () => {}, { credentials }).then(
      undefined,
      (e) => e,
    );
    expect(error.message).toBe(
      `cannot listen at ${kind}://127.0.0.1:${port}: listen EADDRINUSE: address already in use 127.0.0.1:${port}`,
    );
  }
  server.close();
});
