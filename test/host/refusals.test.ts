/**
 * Tests of errors: invalid addresses and options, missing hosts, servers that are no hosts, and hosts that refuse the
 * driver.
 */
import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { attachHosts, thisHost } from "viceroy";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Crew, loadCrew } from "../proc/crew.js";
import { collectUnhandledFaults } from "../proc/unhandled-faults.js";
import { until } from "../proc/until.js";
import { attachPatiently } from "./attach-patiently.js";
import { runHost, startHost } from "./start-host.js";

let crew: Crew;
const faults = collectUnhandledFaults();
const servers: Server[] = [];
const sockets: Socket[] = [];
beforeAll(async () => {
  crew = await loadCrew();
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

const folder = mkdtempSync(join(tmpdir(), "vr-"));
const token = "a token of more than enough characters";

/** Starts a server that is no host. */
async function listener(onSocket: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    onSocket(socket);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `tcp://127.0.0.1:${(server.address() as { port: number }).port}`;
}

describe("attachHosts refuses at once", () => {
  test.each([
    [[], "cannot attach hosts: expected at least one address, got none"],
    ["tcp://n1:26600", "cannot attach hosts: expected a list of addresses, got "],
    [[17], "cannot attach hosts: expected addresses as text, got 17"],
    [["n1:26600"], 'cannot read address "n1:26600": expected tcp://host:port, tls://host:port or unix:///path'],
    [["tcp://n1", "tcp://n1:26600"], "cannot attach hosts: tcp://n1:26600 is named twice"],
    [
      ["tls://n1"],
      "cannot attach hosts: tls:// needs a certificate, its key and an authority; give their files as tls",
    ],
  ])("addresses %j", (addresses, message) => {
    expect(() => attachHosts(addresses as string[])).toThrow(message);
  });

  test.each([
    [{ name: "" }, 'cannot attach hosts: expected a name, got ""'],
    [{ timeout: 0 }, "cannot attach hosts: expected timeout in milliseconds, got 0"],
    [{ keepAlive: -1 }, "cannot attach hosts: expected keepAlive in milliseconds, got -1"],
    [
      { registry: "generated/registry.js" },
      "cannot attach hosts: expected a URL or an absolute path as registry, got ",
    ],
    [{ token: "short" }, "cannot use the token from the option token: expected at least 16 characters, got 5"],
    [
      { tls: { cert: "/no/such.pem", key: "/no/such.key", ca: "/no/ca.pem" } },
      "cannot read the certificate for TLS from /no/such.pem: ",
    ],
  ])("options %j", (options, message) => {
    expect(() => attachHosts(["tcp://n1"], options)).toThrow(message);
  });
});

describe("a slice of hosts and the own host refuse", () => {
  test("to be stopped or shut down", async () => {
    const [one, two] = await Promise.all([startHost(), startHost()]);
    await using hosts = attachPatiently([one.address, two.address], { name: "pair" });
    const slice = hosts.slice({ hosts: 0 });
    expect(() => slice.stop()).toThrow('cannot stop a slice of mesh "pair" of hosts: stop the whole mesh');
    expect(() => slice.shutdown()).toThrow(
      'cannot shut down a slice of mesh "pair" of hosts: shut down the whole mesh',
    );
    expect(() => thisHost().stop()).toThrow("cannot stop the own host: it was not attached");
    expect(() => thisHost().shutdown()).toThrow("cannot shut down the own host: it was not attached");
    await hosts.ready;
  });

  test("other isolations than processes", async () => {
    const host = await startHost();
    await using hosts = attachPatiently([host.address]);
    const text = 'cannot spawn procs: on attached hosts isolation is "process", got ';
    expect(() => hosts.spawnProcs({}, { isolation: "thread" })).toThrow(`${text}"thread"`);
    expect(() => hosts.spawnProcs({}, { isolation: "inline" })).toThrow(`${text}"inline"`);
    expect(() => hosts.spawnProcs({ gpus: 2 }, { cpus: ["0"] })).toThrow("expected cpus for each of 2 processes");
    expect(() => hosts.spawnProcs({}, { cpus: ["none"] })).toThrow('expected a list like "0-3,8", got "none"');
  });
});

describe("attaching a host fails", () => {
  test("if no daemon listens: ready and the procs on this host reject, and other hosts work", async () => {
    const host = await startHost();
    await using hosts = attachPatiently([host.address, `unix://${folder}/nobody.sock`], { timeout: 10_000 });
    const procs = hosts.spawnProcs({}, { name: "half" });
    const workers = procs.spawn("workers", crew.SteelWorker);
    const why = `cannot attach host unix://${folder}/nobody.sock: `;
    await expect(hosts.ready).rejects.toThrow(`${why}connect ENOENT ${folder}/nobody.sock; tried for 10000 ms`);
    await expect(procs.ready).rejects.toThrow(`mesh "half" is not ready: rank 1: ${why}`);
    await until(() => faults.length > 0);
    expect(faults).toMatchObject([{ mesh: "half", ranks: [1], kind: "spawn" }]);
    expect(await workers.slice({ hosts: 0 }).echo.callOne("x")).toBe("x");
    await expect(workers.slice({ hosts: 1 }).echo.callOne("x")).rejects.toThrow(why);
  });

  test("if its path is a plain file, without another attempt", async () => {
    writeFileSync(join(folder, "plain"), "");
    await using hosts = attachPatiently([`unix://${folder}/plain`], { timeout: 2_000_000 });
    await expect(hosts.ready).rejects.toThrow(
      `cannot attach host unix://${folder}/plain: cannot connect to ${folder}/plain: it is not a socket`,
    );
  });

  test("if it never answers", async () => {
    const address = await listener(() => {});
    await using hosts = attachPatiently([address], { timeout: 300 });
    await expect(hosts.ready).rejects.toThrow(
      `cannot attach host ${address}: it did not accept this driver within 300 ms`,
    );
  });

  test("if it speaks another protocol", async () => {
    const address = await listener((socket) => socket.end(`HTTP/1.1 400 Bad Request\r\n\r\n${"x".repeat(1000)}`));
    await using hosts = attachPatiently([address]);
    await expect(hosts.ready).rejects.toThrow("the peer does not speak this protocol; is it a Viceroy process?");
  });

  test("if it closes the connection", async () => {
    const address = await listener((socket) => socket.end());
    await using hosts = attachPatiently([address], { timeout: 5000 });
    await expect(hosts.ready).rejects.toThrow(
      `cannot attach host ${address}: the connection ended during the handshake`,
    );
  });

  test("if the tokens differ or one is missing", async () => {
    const guarded = await startHost(undefined, [], { VICEROY_TOKEN: token });
    const open = await startHost();
    const attach = async (address: string, given?: string) => {
      await using hosts = attachPatiently([address], given === undefined ? {} : { token: given });
      await hosts.ready;
    };
    await attach(guarded.address, token);
    await attach(open.address);
    await expect(attach(guarded.address, `not ${token}`)).rejects.toThrow("the token is not that of this process");
    await expect(attach(guarded.address)).rejects.toThrow("asks for a token, and this process has been given none");
    await expect(attach(open.address, token)).rejects.toThrow("the peer was started without one");
    await until(() => guarded.output.text.includes("refused a connection: the token is not that of this process"));
    await attach(guarded.address, token);
    const far = await startHost("tcp://127.0.0.1:0", [], { VICEROY_TOKEN: token });
    await expect(attach(far.address, `not ${token}`)).rejects.toThrow("the token is not that of this process");
    const noted = /refused a connection from 127\.0\.0\.1:\d+: the token is not that of this process/;
    await until(() => noted.test(far.output.text));
  });

  test("if it is attached already, also by another address", async () => {
    const host = await startHost("tcp://127.0.0.1:0");
    const other = host.address.replace("127.0.0.1", "localhost");
    await using hosts = attachPatiently([host.address]);
    await hosts.ready;
    await using again = attachPatiently([other]);
    await expect(again.ready).rejects.toThrow(
      `cannot attach host ${other}: it is the same host as ${host.address}, which is attached already`,
    );
    expect(await hosts.spawnProcs().spawn("workers", crew.SteelWorker).slice({ hosts: 0 }).echo.callOne("x")).toBe("x");
    await using both = attachPatiently([host.address]);
    await expect(both.ready).rejects.toThrow("which is attached already");
  });
});

describe("a host that has not started yet", () => {
  test.each(["unix", "tcp"])("is tried again until it listens: %s", async (kind) => {
    // The port was free a moment ago.
    const before = kind === "tcp" ? await startHost("tcp://127.0.0.1:0") : undefined;
    before?.child.kill("SIGKILL");
    await before?.exited;
    const address = before?.address ?? `unix://${folder}/late.sock`;
    await using hosts = attachPatiently([address], { timeout: 60_000 });
    const worker = hosts.spawnProcs().spawn("workers", crew.SteelWorker).slice({ hosts: 0 });
    const answer = worker.echo.callOne("at last");
    await new Promise((resolve) => setTimeout(resolve, 500));
    await startHost(address);
    await hosts.ready;
    expect(await answer).toBe("at last");
    expect(faults).toEqual([]);
  });

  test("is not tried any more after stop", async () => {
    const hosts = attachPatiently([`unix://${folder}/never.sock`], { timeout: 2_000_000 });
    const refused = hosts.ready.then(undefined, (error: Error) => error.message);
    await hosts.stop();
    expect(await refused).toContain(`cannot attach host unix://${folder}/never.sock: `);
  });
});

describe("the command refuses", () => {
  const ends = async (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const host = runHost(folder, args, env);
    const { code } = await host.exited;
    return { code, text: host.output.text };
  };

  test("a missing, invalid or used address, and an unprotected address of the network", async () => {
    const taken = await startHost();
    writeFileSync(join(folder, "short"), "short\n");
    const refused = await Promise.all([
      ends([]),
      ends(["--listen", "somewhere"]),
      ends(["--listen", taken.address]),
      ends(["--listen", "tcp://0.0.0.0:0"]),
      ends(["--listen", "tls://127.0.0.1:0"]),
      ends(["--listen", "tls://127.0.0.1:0", "--cert", "/no/such.pem"]),
      ends(["--listen", "tcp://127.0.0.1:0", "--token-file", join(folder, "short")]),
      ends(["--listen", "tcp://127.0.0.1:0", "--token-file", join(folder, "nope")]),
      ends(["--listen", `unix://${folder}/short`]),
    ]);
    expect(refused.map(({ code }) => code)).toEqual([3, 3, 3, 3, 3, 3, 3, 3, 3]);
    const texts = [
      "cannot start a host: give an address with --listen",
      'cannot read address "somewhere": expected tcp://host:port, tls://host:port or unix:///path',
      `cannot listen at ${taken.address}: a host listens there already`,
      "cannot listen at tcp://0.0.0.0:0: anyone who reaches it could run programs here; use tls://, give a token " +
        "(--token-file or VICEROY_TOKEN), or say --insecure",
      "TLS needs a certificate, its key and an authority",
      "cannot start a host: TLS needs --cert, --key and --ca, all three",
      `cannot use the token from ${join(folder, "short")}: expected at least 16 characters, got 5`,
      `cannot read the token from ${join(folder, "nope")}, given as --token-file: ENOENT: no such file or directory`,
      `cannot listen at unix://${folder}/short: a file that is not a socket is there already`,
    ];
    for (const [i, text] of texts.entries()) expect(refused[i]!.text).toContain(text);
  });

  test("neither an unprotected address with --insecure nor the socket of a killed daemon", async () => {
    const open = await startHost("tcp://0.0.0.0:0", ["--insecure"]);
    expect(open.output.text).toContain("listens at tcp://0.0.0.0:");
    const killed = await startHost();
    killed.child.kill("SIGKILL");
    await killed.exited;
    const path = killed.address;
    const next = await startHost(path);
    await using hosts = attachPatiently([next.address]);
    await hosts.ready;
  });
});
