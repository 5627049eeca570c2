/** Tests that drivers reach a driver gateway through the proxy that the environment names. */
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { dialWebSocket } from "../../../../runtime/link/transport/websocket/index.js";
import { proxyFor } from "../../../../runtime/link/transport/websocket/proxy.js";
import { isTransient } from "../../../../runtime/proc/remote/host-connection.js";
import { until } from "../../../proc/until.js";
import { ByteRecorder } from "../byte-recorder.js";
import { noSignal, serve } from "./ends.js";

const variables = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"];
beforeEach(() => {
  for (const name of variables) {
    vi.stubEnv(name, "");
    vi.stubEnv(name.toLowerCase(), "");
  }
});
afterEach(() => vi.unstubAllEnvs());

/** Starts a proxy, which forwards to a port of this machine whatever host it is asked for. */
async function startProxy(port: number, status = 200) {
  const asked: IncomingMessage[] = [];
  const sockets: Socket[] = [];
  const server = createServer();
  server.on("connect", (request, near) => {
    asked.push(request);
    near.on("error", () => {});
    sockets.push(near as Socket);
    if (status === 0) return;
    if (status !== 200) {
      near.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const far = connect(port, "127.0.0.1", () => {
      near.write("HTTP/1.1 200 Connection established\r\n\r\n");
      near.pipe(far).pipe(near);
    });
    far.on("error", () => {});
    sockets.push(far);
  });
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, asked, sockets };
}

test("a proxy with a password is asked for a connection to the host of the URL", async () => {
  const served = await serve();
  const proxy = await startProxy(served.port);
  vi.stubEnv("HTTP_PROXY", `http://me:p%40ss@${proxy.address}`);
  const pipe = await dialWebSocket(new URL("ws://gateway.example.com:8080/viceroy"), {}, noSignal());
  expect(proxy.asked[0]!.url).toBe("gateway.example.com:8080");
  expect(proxy.asked[0]!.headers["proxy-authorization"]).toBe(`Basic ${Buffer.from("me:p@ss").toString("base64")}`);
  const here = new ByteRecorder(pipe);
  served.accepted[0]!.write([Buffer.from("hello")], () => {});
  await here.bytes(5);
  pipe.destroy();
  await until(() => proxy.sockets.every(({ destroyed }) => destroyed));
});

test.each([
  [
    407,
    "http://",
    "asks for a user and a password; give them in HTTP_PROXY, as http://user:password@… (HTTP 407)",
    false,
  ],
  [407, "http://me:secret@", "does not accept the user and the password of HTTP_PROXY (HTTP 407)", false],
  [403, "http://", "does not connect to gateway.example.com:80: HTTP 403", false],
  [502, "http://", "does not connect to gateway.example.com:80: HTTP 502", true],
] as const)("a proxy that answers %i is named without its password (%#)", async (status, scheme, why, transient) => {
  const { address } = await startProxy(0, status);
  vi.stubEnv("HTTP_PROXY", `${scheme}${address}`);
  const error = await dialWebSocket(new URL("ws://gateway.example.com"), {}, noSignal()).catch((e) => e);
  expect(error.message).toBe(`the proxy http://${address} ${why.replace("…", address)}`);
  expect(isTransient(error)).toBe(transient);
});

test("a proxy that is not there may be there later", async () => {
  vi.stubEnv("HTTP_PROXY", "http://127.0.0.1:9");
  const error = await dialWebSocket(new URL("ws://gateway.example.com"), {}, noSignal()).catch((e) => e);
  expect(error.message).toBe("cannot reach the proxy http://127.0.0.1:9: connect ECONNREFUSED 127.0.0.1:9");
  expect(isTransient(error)).toBe(true);
});

test("a proxy that does not answer is left when the attempt ends", async () => {
  const proxy = await startProxy(0, 0);
  vi.stubEnv("HTTP_PROXY", `http://${proxy.address}`);
  const giveUp = new AbortController();
  const attempt = dialWebSocket(new URL("ws://gateway.example.com"), {}, giveUp.signal);
  await until(() => proxy.asked.length === 1);
  giveUp.abort(new Error("it did not answer within 2000 ms"));
  await expect(attempt).rejects.toThrow("it did not answer within 2000 ms");
  await until(() => proxy.sockets[0]!.destroyed || proxy.sockets[0]!.readableEnded);
});

test.each([
  [{ HTTPS_PROXY: "http://p:1" }, "wss://gateway.example.com", "http://p:1/"],
  [{ HTTPS_PROXY: "http://p:1" }, "ws://gateway.example.com", undefined],
  [{ HTTP_PROXY: "p:1" }, "ws://gateway.example.com", "http://p:1/"],
  [{ ALL_PROXY: "http://p:1" }, "wss://gateway.example.com", "http://p:1/"],
  [{ HTTPS_PROXY: "http://p:1", NO_PROXY: "other,gateway.example.com" }, "wss://gateway.example.com", undefined],
  [{ HTTPS_PROXY: "http://p:1", NO_PROXY: ".example.com" }, "wss://gateway.example.com", undefined],
  [{ HTTPS_PROXY: "http://p:1", NO_PROXY: "*" }, "wss://gateway.example.com", undefined],
  [{ HTTP_PROXY: "http://p:1" }, "ws://127.0.0.1:8001", undefined],
  [{ HTTP_PROXY: "http://p:1" }, "ws://localhost:8001", undefined],
  [{ HTTP_PROXY: "http://p:1" }, "ws://[::1]:8001", undefined],
] as const)("with %j, %s is reached through %s", (env, url, expected) => {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  expect(proxyFor(new URL(url))?.href).toBe(expected);
});

test("a proxy of a kind that is not known is named without its password", () => {
  vi.stubEnv("ALL_PROXY", "socks5://me:secret@p:1080");
  expect(() => proxyFor(new URL("wss://gateway.example.com"))).toThrow(
    "HTTPS_PROXY names a proxy that cannot be used: expected http:// or https://, got socks5://…@p:1080",
  );
});
