/** Tests of drivers behind nginx, which ends TLS, buffers, and cuts what is idle. The drivers are programs that trust its certificate. */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Authority } from "../../link/transport/tls/certificates.js";
import { peer } from "../../peers.js";
import { compileCrew } from "../../proc/crew.js";
import { until } from "../../proc/until.js";
import { startHost } from "../start-host.js";
import { startIngress } from "./nginx-ingress.js";
import { startWebSocketHost } from "./websocket-hosts.js";

const nginx = peer("nginx");
const token = "a token of more than enough characters";
const env = { VICEROY_TOKEN: token };
const file = fileURLToPath(new URL("./counting-driver.ts", import.meta.url));

describe.skipIf(nginx === undefined)("a driver behind nginx", () => {
  let authority: Authority;
  beforeAll(async () => {
    await compileCrew();
    authority = new Authority();
  });
  afterAll(() => authority.remove());

  /** Starts a driver that trusts the certificate of the ingress. Resolves with its output when it ends. */
  function drive(
    order: object,
    trusts = true,
    further: NodeJS.ProcessEnv = {},
  ): { readonly said: () => string; readonly ended: Promise<number | null>; readonly child: ChildProcess } {
    const { ca } = authority.issue("x");
    const child = spawn(process.execPath, ["--import", "tsx", file, JSON.stringify(order)], {
      env: { ...process.env, ...(trusts ? { NODE_EXTRA_CA_CERTS: ca } : {}), ...further },
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    let text = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (more) => {
        text += more;
      });
    }
    return { said: () => text, child, ended: new Promise((resolve) => child.once("close", resolve)) };
  }

  async function cluster(silence: number) {
    const [gateway, one] = await Promise.all([
      startWebSocketHost("tcp://127.0.0.1:0", [], env),
      startHost("tcp://127.0.0.1:0", [], env),
    ]);
    return { gateway, one, ingress: await startIngress(nginx!, gateway.port, authority.issue("ingress"), silence) };
  }

  test("sends bulk and small calls through it, and survives that it cuts what is idle for 2 s", async () => {
    const { one, ingress } = await cluster(2);
    // The program pauses for 3 s between two halves of its calls.
    const { said, ended } = drive({ address: one.address, through: ingress.url, token, pause: 3000 });
    expect(await ended, said()).toBe(0);
    expect(said()).toContain("done: 400 calls in order, 16 MiB in each direction");
    // Each connection is in the log when it has ended. A driver that was never cut has two of them.
    await until(() => ingress.log().filter((line) => line === "101 GET /viceroy").length > 2);
  });

  test("does not notice an ingress whose limit is longer than the pings", async () => {
    const { one, ingress } = await cluster(15);
    const { said, ended } = drive({ address: one.address, through: ingress.url, token, pause: 18_000 });
    expect(await ended, said()).toBe(0);
    // The link to the gateway and the tunnel.
    await until(() => ingress.log().length >= 2);
    expect(ingress.log()).toEqual(["101 GET /viceroy", "101 GET /viceroy"]);
  });

  test("reaches the hosts by the URL in VICEROY_API_URL, unless the program names another way", async () => {
    const { one, ingress } = await cluster(60);
    const { said, ended } = drive({ address: one.address, token }, true, { VICEROY_API_URL: ingress.url });
    expect(await ended, said()).toBe(0);
    // Each connection is in the log when it has ended: the link to the gateway, and the tunnel.
    await until(() => ingress.log().filter((line) => line === "101 GET /viceroy").length === 2);
    const other = { VICEROY_API_URL: ingress.at("nothing") };
    const named = drive({ address: one.address, through: ingress.url, token }, true, other);
    expect(await named.ended, named.said()).toBe(0);
    const lost = drive({ address: one.address, token }, true, other);
    expect(await lost.ended).toBe(1);
    expect(lost.said()).toContain(`cannot reach the driver gateway ${ingress.at("nothing")}: HTTP 404`);
  });

  test("reaches the gateway at a path that the ingress rewrites, and at one with a password", async () => {
    const { one, ingress } = await cluster(60);
    const rewritten = drive({ address: one.address, through: ingress.at("rewritten"), token });
    expect(await rewritten.ended, rewritten.said()).toBe(0);
    const through = ingress.at("guarded").replace("//", "//me:secret@");
    const guarded = drive({ address: one.address, through, token });
    expect(await guarded.ended, guarded.said()).toBe(0);
  });

  test.each([
    ["guarded", "HTTP 401: what is in front of the driver gateway asks for a user and a password"],
    ["old", "HTTP 426: a proxy in front of the driver gateway does not pass the upgrade on"],
    [
      "nothing",
      "HTTP 404: nothing is at the path /nothing/x; compare it with the path that leads to the driver gateway",
    ],
  ] as const)("is told what is wrong with the path %s", async (place, why) => {
    const { one, ingress } = await cluster(60);
    const { said, ended } = drive({ address: one.address, through: ingress.at(place), token });
    expect(await ended).toBe(1);
    expect(said()).toContain(`cannot reach the driver gateway ${ingress.at(place)}: ${why}`);
  });

  test("is told that the gateway behind the ingress is away, after its time limit", async () => {
    const { gateway, one, ingress } = await cluster(60);
    gateway.child.kill("SIGKILL");
    await gateway.exited;
    const { said, ended } = drive({ address: one.address, through: ingress.url, token, timeout: 2000 });
    expect(await ended).toBe(1);
    expect(said()).toContain(
      "HTTP 502: what is in front of the driver gateway does not reach it; see whether a host listens at ws:// there; tried for 2000 ms",
    );
  });

  test("is told how to trust the certificate of the ingress", async () => {
    const { one, ingress } = await cluster(60);
    const { said, ended } = drive({ address: one.address, through: ingress.url, token }, false);
    expect(await ended).toBe(1);
    expect(said()).toContain(
      "start this program with the variable NODE_EXTRA_CA_CERTS, which names the file of the authority",
    );
  });
});
