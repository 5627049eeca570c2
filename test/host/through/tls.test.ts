/** Tests that TLS is between the driver and each host, whatever forwards the bytes. */
import { connect, createServer } from "node:net";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { Authority } from "../../link/transport/tls/certificates.js";
import { type Crew, loadCrew } from "../../proc/crew.js";
import { attachPatiently } from "../attach-patiently.js";
import { startHost } from "../start-host.js";

let crew: Crew;
let authority: Authority;
let strangers: Authority;
beforeAll(async () => {
  crew = await loadCrew();
  authority = new Authority();
  strangers = new Authority();
});
afterAll(() => {
  authority.remove();
  strangers.remove();
});

function tlsHost(by = authority) {
  const { cert, key, ca } = by.issue("host");
  return startHost("tls://127.0.0.1:0", ["--single-port", "--cert", cert, "--key", key, "--ca", ca]);
}

/** Copies the bytes of connections to an address, and keeps those of both directions. */
async function recorder(target: string): Promise<{ readonly address: string; readonly bytes: () => Buffer }> {
  const chunks: Buffer[] = [];
  const server = createServer((near) => {
    const far = connect(Number(/:(\d+)$/.exec(target)![1]), "127.0.0.1");
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on("error", () => {});
      from.on("data", (bytes: Buffer) => {
        chunks.push(bytes);
        to.write(bytes);
      });
      from.on("close", () => to.destroy());
    }
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return { address: `tls://127.0.0.1:${port}`, bytes: () => Buffer.concat(chunks) };
}

test("what the gateway forwards is encrypted between the driver and the host", async () => {
  const [gateway, host] = await Promise.all([tlsHost(), tlsHost()]);
  const { address, bytes } = await recorder(host.address);
  await using hosts = attachPatiently([address], { tls: authority.issue("driver"), through: gateway.address });
  const workers = hosts.spawnProcs().spawn("workers", crew.SteelWorker);
  const secret = "nobody on the way can read this text";
  expect(await workers.echo.callOne(secret)).toBe(secret);
  expect(bytes().length).toBeGreaterThan(1000);
  expect(bytes().includes(secret)).toBe(false);
  expect(bytes().includes("workers")).toBe(false);
});

/** A proxy in front of a gateway that lets in TLS alone, as those that route connections by the name in TLS do. */
async function tlsOnly(target: string) {
  let refused = 0;
  const server = createServer((near) => {
    near.on("error", () => {});
    near.once("data", (bytes: Buffer) => {
      if (bytes[0] !== 22) {
        refused++;
        near.destroy();
        return;
      }
      const far = connect(Number(/:(\d+)$/.exec(target)![1]), "127.0.0.1").on("error", () => near.destroy());
      far.write(bytes);
      near.pipe(far).pipe(near);
      near.on("close", () => far.destroy());
    });
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return { address: `tls://127.0.0.1:${port}`, refused: () => refused };
}

test("the driver encrypts for the host alone, and the gateway's network sees nothing of it", async () => {
  const [gateway, host] = await Promise.all([tlsHost(), tlsHost()]);
  const { address, bytes } = await recorder(gateway.address);
  await using hosts = attachPatiently([host.address], { tls: authority.issue("driver"), through: address });
  const workers = hosts.spawnProcs().spawn("workers", crew.SteelWorker);
  const secret = "nobody on the way can read this text";
  expect(await workers.echo.callOne(secret)).toBe(secret);
  const before = bytes().length;
  await workers.keep.callOne(new Uint8Array(1_000_000));
  const seen = bytes();
  expect(seen.includes("VCRD")).toBe(true);
  expect(seen.includes(secret)).toBe(false);
  expect(seen.length - before).toBeGreaterThan(1_000_000);
});

test("where only TLS is let in, everything goes through the tunnel", async () => {
  const [gateway, host] = await Promise.all([tlsHost(), tlsHost()]);
  const { address, refused } = await tlsOnly(gateway.address);
  await using hosts = attachPatiently([host.address], { tls: authority.issue("driver"), through: address });
  const workers = hosts.spawnProcs().spawn("workers", crew.SteelWorker);
  expect(await workers.echo.callOne("through the tunnel")).toBe("through the tunnel");
  expect(refused()).toBeGreaterThan(0);
  const tried = refused();
  await workers.keep.callOne(new Uint8Array(1_000_000));
  expect(refused()).toBe(tried);
});

test("the driver refuses a host of another authority, although it trusts the gateway", async () => {
  const [gateway, host] = await Promise.all([tlsHost(), tlsHost(strangers)]);
  await using hosts = attachPatiently([host.address], { tls: authority.issue("driver"), through: gateway.address });
  await expect(hosts.ready).rejects.toThrow(
    `cannot attach host ${host.address}: this process does not trust the certificate of the host: self-signed`,
  );
});

test("a driver with a certificate of another authority gets no tunnel", async () => {
  const [gateway, host] = await Promise.all([tlsHost(), tlsHost()]);
  const tls = { ...strangers.issue("driver"), ca: authority.issue("x").ca };
  await using hosts = attachPatiently([host.address], { tls, through: gateway.address });
  await expect(hosts.ready).rejects.toThrow(
    `cannot attach host ${host.address}: cannot reach the driver gateway ${gateway.address}: the host does not trust the ` +
      "certificate of this process: UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  );
});
