/** Tests of TLS connections between processes of a job: who is let in is decided by identity, and not by address. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Authority } from "../../../runtime/job/credentials/authority.js";
import { connectTo, listenAt } from "../../../runtime/link/transport/connect.js";
import type { Listener } from "../../../runtime/link/transport/listener.js";
import { parseNetworkAddress, type SocketAddress } from "../../../runtime/link/transport/network-address.js";
import type { Pipe } from "../../../runtime/link/transport/pipe.js";
import { type Credentials, FileCredentials, type TlsFiles } from "../../../runtime/link/transport/tls/credentials.js";
import { formatIdentity, type Identity } from "../../../runtime/link/transport/tls/identity.js";
import { makeNodePlatform } from "../../../runtime/proc/platform/node-platform.js";
import { DirectLinks } from "../../../runtime/proc/remote/direct-links.js";
import { openLinkPort } from "../../../runtime/proc/remote/link-port.js";
import { World } from "../../actor/world.js";
import { ByteRecorder } from "../../link/transport/byte-recorder.js";
import { Authority as PlainAuthority } from "../../link/transport/tls/certificates.js";
import { until } from "../../proc/until.js";
import { issueCredentials, issueFiles } from "./issue-files.js";

const driver = "viceroy://job-1/driver";
const hostZero = "viceroy://job-1/hosts/trainers/0";
const hostOne = "viceroy://job-1/hosts/trainers/1";
let job: Authority;
let plain: PlainAuthority;
const listeners: Listener[] = [];

beforeAll(async () => {
  job = Authority.create("job-1");
  plain = new PlainAuthority();
});
afterAll(() => plain.remove());
afterEach(() => {
  for (const listener of listeners.splice(0)) listener.close();
});

interface Server {
  readonly address: SocketAddress;
  readonly admitted: (Identity | undefined)[];
  readonly refusals: string[];
}

async function serve(credentials: Credentials): Promise<Server> {
  const admitted: (Identity | undefined)[] = [];
  const refusals: string[] = [];
  const listener = await listenAt(
    // No certificate names this address.
    { kind: "tls", host: "127.0.0.1", port: 0 },
    (_, __, identity) => void admitted.push(identity),
    { credentials, onRefused: ({ message }) => void refusals.push(message) },
  );
  listeners.push(listener);
  return { address: listener.address as SocketAddress, admitted, refusals };
}

/** Connects. @returns the error, or the identity that the server has seen */
async function outcome({ address, admitted }: Server, own: Credentials, expected?: string): Promise<string> {
  const before = admitted.length;
  try {
    const pipe = await connectTo(expected === undefined ? address : { ...address, identity: expected }, own);
    const recorder = new ByteRecorder(pipe);
    let closed = false;
    void recorder.end.then(() => {
      closed = true;
    });
    await until(() => closed || admitted.length > before);
    const seen = admitted[before];
    if (!closed) pipe.destroy();
    // The message begins with a head of eight bytes.
    if (admitted.length === before) return `turned away: ${recorder.all.subarray(8, 32).toString().split("\0")[0]}`;
    return seen === undefined ? "admitted" : formatIdentity(seen);
  } catch (error) {
    return (error as Error).message;
  }
}

describe("a host of a job", () => {
  test("admits the processes of its job, and knows who they are", async () => {
    const server = await serve(issueCredentials(job, hostZero));
    for (const identity of [driver, "viceroy://job-1/controller", hostOne]) {
      expect(await outcome(server, issueCredentials(job, identity), hostZero)).toBe(identity);
    }
  });

  test("refuses a process of another job with the same name, and one with an authority of a user", async () => {
    const server = await serve(issueCredentials(job, hostZero));
    const other = Authority.create("job-1");
    const strangers = [
      await mixed(issueCredentials(other, driver), job.certificate),
      await mixed(new FileCredentials(plain.issue("driver", 1, "URI:viceroy://job-1/driver")), job.certificate),
    ];
    for (const stranger of strangers) {
      expect(await outcome(server, stranger, hostZero)).toMatch(/^turned away: UNABLE_TO_/);
    }
    expect(server.admitted).toEqual([]);
  });

  test("refuses a certificate of its authority without an identity of its job", async () => {
    const own = new FileCredentials(plain.issue("host", 1, "URI:viceroy://job-1/hosts/trainers/0"));
    const server = await serve(own);
    for (const names of ["DNS:localhost", "URI:viceroy://job-2/driver", "URI:viceroy://job-1/driver,DNS:localhost"]) {
      const peer = new FileCredentials(plain.issue("driver", 1, names));
      expect(await outcome(server, withIdentity(peer, driver), hostZero)).toBe("turned away: NO_IDENTITY_OF_THIS_JOB");
    }
    const why = "it has shown no certificate that can be trusted: NO_IDENTITY_OF_THIS_JOB";
    expect(server.refusals).toEqual([why, why, why]);
  });
});

test("an address to listen at has no identity", async () => {
  const address = parseNetworkAddress(`tls://127.0.0.1:0#${hostZero}`);
  const listening = listenAt(address, () => {}, { credentials: issueCredentials(job, hostZero) });
  await expect(listening).rejects.toThrow(
    new TypeError(
      `cannot listen at tls://127.0.0.1:0#${hostZero}: the identity of this process is in its certificate; leave it ` +
        "out of the address",
    ),
  );
});

test("the port of a process on a host takes links of other hosts, and not as its parent", async () => {
  const world = new World();
  const platform = makeNodePlatform();
  const { proc } = world.proc("listening");
  const from = world.root.proc;
  const [own, other, ofDriver] = await Promise.all([hostZero, hostOne, driver].map((uri) => issueFiles(job, uri)));
  const listenAs = (parent: bigint) => {
    const owner = {
      proc,
      parent,
      accept: (pipe: Pipe) => pipe.destroy(),
      acceptMemory: (pipe: Pipe) => pipe.destroy(),
    };
    return openLinkPort(platform, owner, { tls: own! }, { kind: "tls", host: "127.0.0.1", port: 0 });
  };
  const address = { kind: "tls", host: "127.0.0.1", port: 1, identity: hostZero } as const;
  const isTaken = async (port: number, tls: TlsFiles) => {
    const pipe = await new DirectLinks(platform).connect(proc.id, from, { agent: 9n, address, proof: { tls } }, port);
    pipe?.destroy();
    return pipe !== undefined;
  };
  const [ofOther, ofParent] = await Promise.all([listenAs(from.id + 1n), listenAs(from.id)]);
  expect([await isTaken(ofOther, other!), await isTaken(ofParent, other!)]).toEqual([true, false]);
  expect([await isTaken(ofOther, ofDriver!), await isTaken(ofParent, ofDriver!)]).toEqual([true, true]);
  world.close();
});

describe("a process of a job refuses", () => {
  test("a host with another identity than the expected one, and names both", async () => {
    const server = await serve(issueCredentials(job, hostOne));
    expect(await outcome(server, issueCredentials(job, driver), hostZero)).toBe(
      `another process answers at the address of the host: expected ${hostZero}, got ${hostOne}`,
    );
    expect(server.admitted).toEqual([]);
  });

  test("a listener with the certificate of a driver", async () => {
    const server = await serve(issueCredentials(job, driver));
    expect(await outcome(server, issueCredentials(job, hostOne), hostZero)).toBe(
      "this process does not trust the certificate of the host: unsuitable certificate purpose",
    );
  });

  test("a host without an identity, even if its names are right", async () => {
    const server = await serve(new FileCredentials(plain.issue("host")));
    const own = withIdentity(new FileCredentials(plain.issue("driver")), driver);
    expect(await outcome(server, own, hostZero)).toBe(
      `another process answers at the address of the host: expected ${hostZero}, got a certificate for ` +
        "DNS:localhost, IP Address:127.0.0.1",
    );
  });

  test("hosts of other jobs and addresses without an identity, before it connects", async () => {
    const own = issueCredentials(job, hostOne);
    const nowhere = { address: parseNetworkAddress("tls://127.0.0.1:1") as SocketAddress, admitted: [], refusals: [] };
    expect(await outcome(nowhere, own, "viceroy://job-2/hosts/trainers/0")).toBe(
      `viceroy://job-2/hosts/trainers/0 is of another job than this process, which is ${hostOne}`,
    );
    expect(await outcome(nowhere, own)).toBe(
      `this process is ${hostOne}, which connects to hosts of its job only; the address must say which host is ` +
        "expected, as in tls://host:port#viceroy://job/hosts/mesh/rank",
    );
    expect(await outcome(nowhere, new FileCredentials(plain.issue("driver")), hostZero)).toBe(
      `${hostZero} expects a certificate of its job, and this process has none`,
    );
  });
});

/** Credentials that trust another authority than the one that has signed their certificate. */
function mixed(of: Credentials, ca: string): Credentials {
  return { current: () => ({ ...of.current(), ca: Buffer.from(ca) }), keepUsing() {} };
}

/** Credentials that claim an identity which is not in their certificate. */
function withIdentity(of: Credentials, uri: string): Credentials {
  const [, job, role] = /^viceroy:\/\/(.+)\/(driver)$/.exec(uri)!;
  return { current: () => ({ ...of.current(), identity: { job, role } as Identity }), keepUsing() {} };
}
