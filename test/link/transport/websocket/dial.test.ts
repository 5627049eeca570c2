/** Tests of what a driver is told when what answers at a URL is no driver gateway. */
import { readFileSync } from "node:fs";
import { createServer as createHttps } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { dialWebSocket } from "../../../../runtime/link/transport/websocket/index.js";
import { isTransient } from "../../../../runtime/proc/remote/host-connection.js";
import { ByteRecorder } from "../byte-recorder.js";
import { Authority } from "../tls/certificates.js";
import { noSignal, scripted, serve } from "./ends.js";

afterEach(() => vi.unstubAllEnvs());

/** Returns the error of an attempt. */
function failure(url: string, options = {}): Promise<Error> {
  return dialWebSocket(new URL(url), options, noSignal()).then(
    () => {
      throw new Error("a WebSocket has opened");
    },
    (error) => error,
  );
}

const answer = (status: number, headers = "") => `HTTP/1.1 ${status} Said\r\nContent-Length: 0\r\n${headers}\r\n`;
const infront = "what is in front of the driver gateway";

test.each([
  [
    401,
    "",
    false,
    `HTTP 401: ${infront} asks for a user and a password; give them as wss://user:password@host, or let it ask for none here, because drivers prove themselves to the driver gateway`,
  ],
  [403, "", false, `HTTP 403: ${infront} forbids this; allow WebSockets of this machine at this path`],
  [
    404,
    "",
    false,
    "HTTP 404: nothing is at the path /viceroy; compare it with the path that leads to the driver gateway",
  ],
  [
    407,
    "",
    false,
    "HTTP 407: a proxy asks for a user and a password; give them in HTTPS_PROXY, as http://user:password@host:port",
  ],
  [
    426,
    "",
    false,
    "HTTP 426: a proxy in front of the driver gateway does not pass the upgrade on; let it speak HTTP/1.1 and forward the headers Upgrade and Connection",
  ],
  [502, "", true, `HTTP 502: ${infront} does not reach it; see whether a host listens at ws:// there`],
  [503, "", true, `HTTP 503: ${infront} does not reach it; see whether a host listens at ws:// there`],
  [504, "", true, `HTTP 504: ${infront} does not reach it; see whether a host listens at ws:// there`],
  [
    200,
    "",
    false,
    "HTTP 200: something that is no driver gateway answered, or a proxy has removed the header Upgrade; compare the host, the port and the path",
  ],
  [418, "", false, "HTTP 418: the WebSocket was refused by what answers there"],
  [
    301,
    "Location: https://user:secret@other.example.com/gate?key=secret\r\n",
    false,
    "HTTP 301: the answer is a redirection to wss://other.example.com/gate, which is not followed; use that URL if it is the right one",
  ],
  [
    302,
    "Location: /elsewhere\r\n",
    false,
    /^HTTP 302: the answer is a redirection to ws:\/\/127\.0\.0\.1:\d+\/elsewhere, which is not followed/,
  ],
  [
    302,
    "Location: http://[\r\n",
    false,
    'HTTP 302: the answer is a redirection to "http://[", which is not followed; use that URL if it is the right one',
  ],
] as const)("an answer %i is explained (%#)", async (status, headers, transient, expected) => {
  const port = await scripted((socket) => socket.end(answer(status, headers)));
  const error = await failure(`ws://127.0.0.1:${port}/viceroy?key=secret`);
  expect(error.message).toMatch(expected);
  if (typeof expected === "string") expect(error.message).toBe(expected);
  expect(isTransient(error)).toBe(transient);
});

test("a user and a password that are not accepted are not asked for again", async () => {
  const asked: string[] = [];
  const port = await scripted((socket, request) => {
    asked.push(request);
    socket.end(answer(401));
  });
  const error = await failure(`ws://me:secret@127.0.0.1:${port}`);
  expect(error.message).toBe(`HTTP 401: ${infront} does not accept the user and the password of the URL`);
  expect(asked[0]).toContain(`Authorization: Basic ${Buffer.from("me:secret").toString("base64")}\r\n`);
});

const opened = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";

test.each([
  [
    "the end of the connection in the middle of the upgrade",
    "HTTP/1.1 101 Switching",
    true,
    "the connection ended before the WebSocket was open: socket hang up",
  ],
  ["nothing", "", true, "the connection ended before the WebSocket was open: socket hang up"],
  ["another protocol", "SSH-2.0-OpenSSH_10.0\r\n", false, /^something that does not speak HTTP answered: Parse Error/],
  [
    "headers without end",
    `${opened}${"X-Filler: 0123456789\r\n".repeat(5000)}`,
    false,
    "something that does not speak HTTP answered: Parse Error: Header overflow",
  ],
  [
    "a wrong proof that it speaks WebSocket",
    `${opened}Sec-WebSocket-Accept: bm8=\r\n\r\n`,
    false,
    "something that is no driver gateway answered: Invalid Sec-WebSocket-Accept header",
  ],
] as const)("a peer that answers with %s is explained", async (_what, bytes, transient, expected) => {
  const port = await scripted((socket) => (bytes === "" ? socket.destroy() : socket.end(bytes)));
  const error = await failure(`ws://127.0.0.1:${port}`);
  expect(error.message).toMatch(expected);
  expect(isTransient(error)).toBe(transient);
});

test("nobody at the port is an error that may pass", async () => {
  const { url, close } = await serve();
  close();
  const error = await failure(url.href);
  expect(error.message).toBe(`connect ECONNREFUSED 127.0.0.1:${url.port}`);
  expect(isTransient(error)).toBe(true);
});

test("an attempt ends with the reason of its signal, whenever that is aborted", async () => {
  let asked = () => {};
  const waiting = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const port = await scripted(() => asked());
  const giveUp = new AbortController();
  const attempt = dialWebSocket(new URL(`ws://127.0.0.1:${port}`), {}, giveUp.signal);
  await waiting;
  giveUp.abort(new Error("it did not answer within 2000 ms"));
  await expect(attempt).rejects.toThrow("it did not answer within 2000 ms");
  await expect(dialWebSocket(new URL(`ws://127.0.0.1:${port}`), {}, giveUp.signal)).rejects.toThrow("within 2000 ms");
});

describe("with TLS", () => {
  let authority: Authority;
  beforeAll(() => {
    authority = new Authority();
  });
  afterAll(() => authority.remove());

  /** Starts an ingress that ends TLS, and forwards what comes to a port of this machine. */
  async function ingress(port: number): Promise<string> {
    const { cert, key } = authority.issue("ingress");
    const server = createHttps({ cert: readFileSync(cert), key: readFileSync(key) });
    server.on("upgrade", (request, near, head) => {
      const far = connect(port, "127.0.0.1");
      const headers = request.rawHeaders.map((text, i) => (i % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join("");
      far.write(`GET ${request.url} HTTP/1.1\r\n${headers}\r\n`);
      far.write(head);
      near.pipe(far).pipe(near);
      for (const socket of [near, far]) socket.on("error", () => {});
      onTestFinished(() => void [near.destroy(), far.destroy()]);
    });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `wss://localhost:${(server.address() as AddressInfo).port}/gate`;
  }

  test("an ingress whose certificate is trusted passes the bytes on", async () => {
    const served = await serve();
    const url = await ingress(served.port);
    const pipe = await dialWebSocket(new URL(url), { ca: readFileSync(authority.issue("x").ca) }, noSignal());
    const here = new ByteRecorder(pipe);
    served.accepted[0]!.write([Buffer.from("hello")], () => {});
    await here.bytes(5);
    pipe.destroy();
    await here.end;
  });

  test("an ingress whose certificate is not trusted is named, and how to trust it", async () => {
    const url = await ingress((await serve()).port);
    const error = await failure(url);
    const { host } = new URL(url);
    // Newer versions of Node.js add a hint to the text.
    expect(error.message).toMatch(
      new RegExp(
        `^this process does not trust the certificate of ${host}: unable to verify the first certificate(?:; if the root CA is installed ` +
          "locally, try running Node\\.js with --use-system-ca)?; if it is of an authority of your own, start this program with the variable " +
          "NODE_EXTRA_CA_CERTS, which names the file of the authority$",
      ),
    );
    expect(isTransient(error)).toBe(false);
  });

  test("a port that does not speak TLS is named", async () => {
    const { port } = await serve();
    const error = await failure(`wss://127.0.0.1:${port}`);
    expect(error.message).toMatch(new RegExp(`^127\\.0\\.0\\.1:${port} does not speak TLS; use ws:// in the URL: `));
  });
});
