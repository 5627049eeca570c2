/** Tests that a TLS connection is accepted only if each side trusts the certificate of the other side. */
import { copyFileSync, writeFileSync } from "node:fs";
import { connect as connectTcp } from "node:net";
import { connect as connectAnyhow } from "node:tls";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { systemClock, systemRandom } from "../../../../runtime/link/clock.js";
import { offerLink } from "../../../../runtime/link/handshake/dial.js";
import { connectTo, listenAt } from "../../../../runtime/link/transport/connect.js";
import type { Listener } from "../../../../runtime/link/transport/listener.js";
import type { SocketAddress } from "../../../../runtime/link/transport/network-address.js";
import type { Pipe } from "../../../../runtime/link/transport/pipe.js";
import { connectTls } from "../../../../runtime/link/transport/tls/connect.js";
import { FileCredentials, type TlsFiles } from "../../../../runtime/link/transport/tls/credentials.js";
import { until } from "../../../proc/until.js";
import { ManualClock } from "../../resumable/cut-world.js";
import { ByteRecorder } from "../byte-recorder.js";
import { Authority } from "./certificates.js";

const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`;
let trusted: Authority;
let other: Authority;
let files: TlsFiles;
const listeners: Listener[] = [];

beforeAll(() => {
  trusted = new Authority();
  other = new Authority();
  files = trusted.issue("host");
});

afterAll(() => {
  trusted.remove();
  other.remove();
});

afterEach(() => {
  for (const listener of listeners.splice(0)) listener.close();
});

interface Server {
  readonly address: SocketAddress;
  readonly accepted: Pipe[];
  readonly refusals: Error[];
}

async function serve(own: TlsFiles, limits = {}): Promise<Server> {
  const accepted: Pipe[] = [];
  const refusals: Error[] = [];
  const listener = await listenAt({ kind: "tls", host: "127.0.0.1", port: 0 }, (pipe) => accepted.push(pipe), {
    credentials: new FileCredentials(own),
    halfOpenLimits: limits,
    onRefused: (error) => refusals.push(error),
  });
  listeners.push(listener);
  return { address: listener.address as SocketAddress, accepted, refusals };
}

/** Connects a client with the given files. @returns the message of its error, or "let in" if the server accepts it */
async function outcome(server: Server, own: TlsFiles): Promise<string> {
  const before = server.accepted.length;
  try {
    const pipe = await connectTls(server.address, new FileCredentials(own));
    // In TLS 1.3, a client completes its handshake before the server has checked its certificate.
    let fate = "";
    void new ByteRecorder(pipe).end.then((error) => {
      fate = error?.message ?? "closed";
    });
    await until(() => fate !== "" || server.accepted.length > before);
    pipe.destroy();
    return fate === "" ? "let in" : fate;
  } catch (error) {
    return (error as Error).message;
  }
}

describe("a client", () => {
  test("with a certificate of the trusted authority is accepted", async () => {
    const server = await serve(files);
    expect(await outcome(server, files)).toBe("let in");
    expect(server.accepted.length).toBe(1);
  });

  test("with a certificate of another authority is refused", async () => {
    const server = await serve(files);
    const stranger = { ...other.issue("stranger"), ca: files.ca };
    expect(await outcome(server, stranger)).toBe("closed");
    expect(server.accepted).toEqual([]);
    expect(server.refusals.map(({ message }) => message)).toEqual([
      "it has shown no certificate that can be trusted: UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    ]);
  });

  test("with an expired certificate is refused", async () => {
    const server = await serve(files);
    expect(await outcome(server, trusted.issue("late", -1))).toBe("closed");
    expect(server.accepted).toEqual([]);
    expect(server.refusals.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        new RegExp(
          `^it has shown no certificate that can be trusted: CERT_HAS_EXPIRED; the certificate was valid until ${time}, ` +
            `and the clock of this machine says ${time}; compare the clocks of both machines$`,
        ),
      ),
    ]);
  });

  test("without a certificate is refused", async () => {
    const server = await serve(files);
    const { port } = server.address;
    const socket = connectAnyhow({ host: "127.0.0.1", port, rejectUnauthorized: false });
    await new Promise((resolve) => socket.resume().once("close", resolve));
    expect(server.accepted).toEqual([]);
    expect(server.refusals.map(({ message }) => message)).toEqual([
      "it has shown no certificate that can be trusted: UNABLE_TO_GET_ISSUER_CERT",
    ]);
  });

  test("with an older version of TLS is refused", async () => {
    const server = await serve(files);
    const { port } = server.address;
    const error = await new Promise<Error>((resolve) => {
      connectAnyhow({ host: "127.0.0.1", port, rejectUnauthorized: false, maxVersion: "TLSv1.2" }).once(
        "error",
        resolve,
      );
    });
    expect(error.message).toContain("alert protocol version");
    expect(server.accepted).toEqual([]);
    await until(() => server.refusals.length === 1);
    expect(server.refusals[0]?.message).toContain("unsupported protocol");
  });

  test.each(["GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\xff\xff", "something else entirely"])(
    "that does not speak TLS is refused, and the refusal is reported: %j",
    async (said) => {
      const server = await serve(files);
      const socket = connectTcp(server.address.port, "127.0.0.1", () => socket.write(said, "latin1"));
      socket.on("error", () => {});
      await new Promise((resolve) => socket.resume().once("close", resolve));
      expect(server.accepted).toEqual([]);
      expect(server.refusals.map(({ message }) => message)).toEqual(["it does not speak TLS"]);
      expect(server.refusals[0]?.cause).toBeInstanceOf(Error);
    },
  );

  test.each(["end", "resetAndDestroy"] as const)(
    "that only looks whether somebody listens is no refusal: %s",
    async (how) => {
      const server = await serve(files);
      const socket = connectTcp(server.address.port, "127.0.0.1", () => socket[how]());
      socket.on("error", () => {});
      await new Promise((resolve) => socket.resume().once("close", resolve));
      // A later refusal comes after the news of that one.
      const stranger = connectTcp(server.address.port, "127.0.0.1", () => stranger.write("GET / HTTP/1.1\r\n\r\n"));
      stranger.on("error", () => {});
      await new Promise((resolve) => stranger.resume().once("close", resolve));
      expect(server.refusals.map(({ message }) => message)).toEqual(["it does not speak TLS"]);
    },
  );

  test("with a tcp:// address gets an error that says that the host speaks TLS", async () => {
    const server = await serve(files);
    const pipe = await connectTo({ ...server.address, kind: "tcp" }, undefined);
    const offer = { universe: 1n, from: 2n, to: 3n, link: 4n, first: true, direct: false, received: 0 };
    const outcome = offerLink(pipe, { ...offer, use: "link" }, { clock: systemClock, random: systemRandom });
    await expect(outcome).rejects.toMatchObject({
      reason: "transport",
      message:
        "the host speaks TLS and this process does not; give certificates, and use tls:// in its address unless it is the URL of a WebSocket",
    });
  });

  test("that has shown its certificate is not affected by the limits of the handshake", async () => {
    const clock = new ManualClock();
    const server = await serve(files, { clock, halfOpen: 2, handshakeMs: 400 });
    const pipe = await connectTo(server.address, new FileCredentials(files));
    const heard = new ByteRecorder(pipe);
    await until(() => server.accepted.length === 1);
    for (let i = 0; i < 3; i++) {
      const socket = connectTcp(server.address.port, "127.0.0.1").on("error", () => {});
      const closed = new Promise((resolve) => socket.resume().once("close", resolve));
      await new Promise((resolve) => socket.once("connect", resolve));
      socket.destroy();
      await closed;
    }
    // The timers of the closed connections are gone.
    await until(() => clock.waiting === 1);
    clock.pass(400);
    server.accepted[0]!.write([Buffer.from("still here")], () => {});
    await heard.bytes(10);
    pipe.destroy();
  });

  test("that shows no certificate is disconnected at the timeout, or earlier if too many others wait", async () => {
    const clock = new ManualClock();
    const server = await serve(files, { clock, halfOpen: 4, handshakeMs: 400 });
    const closed = new Set<number>();
    for (let i = 0; i < 6; i++) {
      const socket = connectTcp(server.address.port, "127.0.0.1").resume();
      socket.on("error", () => {});
      socket.once("close", () => closed.add(i));
      await new Promise((resolve) => socket.once("connect", resolve));
    }
    await until(() => closed.size === 2);
    expect(closed).toEqual(new Set([0, 1]));
    // Until this client has shown its certificate, it counts as well and takes the place of the oldest connection.
    expect(await outcome(server, files)).toBe("let in");
    await until(() => closed.size === 3);
    expect(closed).toEqual(new Set([0, 1, 2]));
    clock.pass(400);
    await until(() => closed.size === 6);
    expect(server.accepted.length).toBe(1);
  });
});

describe("a server", () => {
  test("that does not speak TLS is refused by the client with an error that says what to do", async () => {
    const listener = await listenAt({ kind: "tcp", host: "127.0.0.1", port: 0 }, (pipe) => {
      new ByteRecorder(pipe);
      pipe.write([Buffer.from("220 somebody else\r\n")], () => {});
    });
    listeners.push(listener);
    const address = { ...(listener.address as SocketAddress), kind: "tls" } as const;
    const error = await connectTo(address, new FileCredentials(files)).then(undefined, (e) => e);
    expect([error.name, error.reason, error.message]).toEqual([
      "HandshakeError",
      "transport",
      "the host does not speak TLS; start it with a certificate, or use tcp:// in its address, or leave out the option tls if its address is the URL of a WebSocket",
    ]);
    expect(error.cause).toBeInstanceOf(Error);
  });

  test("with an untrusted certificate causes a HandshakeError with the reason `certificate`", async () => {
    const impostor = await serve({ ...other.issue("impostor"), ca: files.ca });
    const error = await connectTo(impostor.address, new FileCredentials(files)).then(undefined, (e) => e);
    expect([error.name, error.reason, error.cause?.code]).toEqual([
      "HandshakeError",
      "certificate",
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    ]);
  });

  test("with a certificate of another authority is refused by the client", async () => {
    const impostor = await serve({ ...other.issue("impostor"), ca: files.ca });
    // Later versions of Node.js append advice to the message.
    expect(await outcome(impostor, files)).toMatch(
      /^this process does not trust the certificate of the host: unable to verify the first certificate(?:;|$)/,
    );
  });

  test("whose certificate has expired is refused by the client", async () => {
    expect(await outcome(await serve(trusted.issue("expired", -1)), files)).toMatch(
      new RegExp(
        "^this process does not trust the certificate of the host: certificate has expired; the certificate was valid " +
          `until ${time}, and the clock of this machine says ${time}; compare the clocks of both machines$`,
      ),
    );
  });

  test("whose certificate is for another name is refused by the client", async () => {
    const elsewhere = trusted.issue("elsewhere", 1, "DNS:elsewhere.example.org");
    expect(await outcome(await serve(elsewhere), files)).toContain("IP: 127.0.0.1 is not in the cert's list");
  });
});

describe("certificate files", () => {
  function copies(from: TlsFiles, name: string): TlsFiles {
    const own = {
      cert: `${trusted.folder}/${name}.c`,
      key: `${trusted.folder}/${name}.k`,
      ca: `${trusted.folder}/${name}.a`,
    };
    for (const file of ["cert", "key", "ca"] as const) copyFileSync(from[file], own[file]);
    return own;
  }

  test("apply to new connections after a change, and existing connections stay open", async () => {
    const own = copies(files, "rotated");
    const server = await serve(own);
    const before = await connectTo(server.address, new FileCredentials(files));
    const heard = new ByteRecorder(before);
    const next = other.issue("next");
    for (const file of ["cert", "key", "ca"] as const) copyFileSync(next[file], own[file]);
    expect(await outcome(server, next)).toBe("let in");
    expect(await outcome(server, files)).not.toBe("let in");
    server.accepted[0]!.write([Buffer.from("still here")], () => {});
    await heard.bytes(10);
    before.destroy();
  });

  test("with invalid new content are reported once, and the earlier certificates stay in use", async () => {
    const own = copies(files, "broken");
    const server = await serve(own);
    writeFileSync(own.cert, "no certificate");
    expect(await outcome(server, files)).toBe("let in");
    expect(server.refusals.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^cannot use the files for TLS that have changed: .*; those from before stay in use$/),
    ]);
    expect(await outcome(server, files)).toBe("let in");
    expect([server.refusals.length, server.refusals[0]?.cause instanceof Error]).toEqual([1, true]);
  });

  test("that are missing are named in the error, and TLS without any files is refused", async () => {
    const missing = { ...files, key: "/nowhere/host.key" };
    await expect(serve(missing)).rejects.toThrow(
      "cannot read the key for TLS from /nowhere/host.key: ENOENT: no such file or directory, stat '/nowhere/host.key'",
    );
    await expect(connectTo({ kind: "tls", host: "localhost", port: 1 }, undefined)).rejects.toThrow(
      "cannot connect to tls://localhost:1: TLS needs a certificate, its key and an authority; give their files",
    );
  });
});
