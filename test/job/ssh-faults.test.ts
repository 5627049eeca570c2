/** Tests of jobs over ssh on machines that are full, busy or strange. Each error says what to do, and nothing is left. */

import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { networks } from "../faults/network.js";
import { peer } from "../peers.js";
import { permitted } from "../permitted.js";
import { compileCrew } from "../proc/crew.js";
import { limitUnderLoad, until } from "../proc/until.js";
import { SshDrivers } from "./lab/ssh-drivers.js";
import { fullTmp, hasSsh, ownTmp, type SshMachineOptions, SshNetwork } from "./lab/ssh-network.js";

const ssh = permitted("jobs over ssh with faults", "Debian's packages openssh-server and openssh-client", hasSsh);
const [fish, tcsh] = [peer("fish"), peer("tcsh")];
/** The temporary files of the drivers. */
const temporary = mkdtempSync(join(tmpdir(), "vt-"));
const bannerFile = join(tmpdir(), "banner");

const cacheOf1M = 'mkdir -p "$HOME/.cache" && mount -t tmpfs -o size=1M tmpfs "$HOME/.cache"';
const machines: Record<string, SshMachineOptions> = {
  n1: { prepare: ownTmp },
  greeting: { sshd: [`Banner ${bannerFile}`], prepare: ownTmp },
  jump: { prepare: ownTmp },
  closedJump: { sshd: ["AllowTcpForwarding no"], prepare: ownTmp },
  busy: { sshd: ["MaxStartups 1"], prepare: ownTmp },
  single: { sshd: ["MaxSessions 1"], prepare: ownTmp },
  none: { sshd: ["MaxSessions 0"], prepare: ownTmp },
  small: { prepare: `${ownTmp}\n${cacheOf1M}` },
  full: { prepare: fullTmp },
  ...(fish === undefined ? {} : { fish: { shell: fish, prepare: ownTmp } }),
  ...(tcsh === undefined ? {} : { csh: { shell: tcsh, prepare: ownTmp } }),
};
const network = networks && ssh ? new SshNetwork(machines) : (undefined as unknown as SshNetwork);
const drivers = new SshDrivers(network, { TMPDIR: temporary });
/** A process that ignores SIGTERM, in a session of its own. */
const ignoring = `setsid sh -c 'trap "" TERM HUP; while :; do sleep 1; done' > /dev/null 2>&1`;
const ipOf = (name: string) => network.machines[name]!.cluster.machine.ip;
const gone = (place: string, how: string) =>
  `JobStartError: cannot start job "viceroy": host ${place} is gone: it ${how}; its output ends with: `;

describe.runIf(networks && ssh)("a job over ssh", () => {
  beforeAll(async () => {
    writeFileSync(bannerFile, "Authorized users only!\n");
    await compileCrew();
    await network.listening();
  });
  afterEach(async () => {
    await drivers.end();
    const onHosts = Object.values(network.machines).flatMap(({ server, home }) => [
      ...readdirSync(`/proc/${server}/root/tmp`).filter((name) => name.startsWith("vj-")),
      ...readdirSync(`/proc/${server}/root${home}`, { recursive: true, encoding: "utf8" }).filter((name) =>
        name.includes("unfinished"),
      ),
    ]);
    const here = readdirSync(temporary).filter((name) => /^(?:vj-|viceroy-job-)/.test(name));
    expect([...here, ...onHosts]).toEqual([]);
  });

  test("waits for a server that has too many connections", async () => {
    drivers.configure("b?", `HostName ${ipOf("busy")}`, "HostKeyAlias busy");
    const hosts = ["b1", "b2", "b3", "b4", "b5", "b6"];
    const { names, message } = await drivers.start({ meshes: { workers: { hosts } } }).outcome();
    expect(message).toBe(undefined);
    expect(names).toEqual(Array(12).fill(ipOf("busy")));
  });

  test("gives up on a server that turns all connections away", async () => {
    // A server that closes every connection at once.
    const refusing = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => refusing.listen(join(tmpdir(), "refusing"), resolve));
    const proxy = `node -e 'require("net").connect("${join(tmpdir(), "refusing")}").on("error",()=>{}).resume()'`;
    const message = await drivers.complaint(["n1"], { sshOptions: ["-o", `ProxyCommand=${proxy}`] });
    refusing.close();
    expect(message).toBe(
      `${gone("workers[0]", "ended with exit code 255")}kex_exchange_identification: Connection closed by remote host\n` +
        'Connection closed by UNKNOWN port 65535; on host "n1": its server of ssh, or that of a jump host, turns ' +
        "connections away: see MaxStartups and PerSourceMaxStartups in its sshd_config, and programs such as fail2ban",
    );
  });

  test("needs one session for each connection", async () => {
    const { names, message } = await drivers.start({ meshes: { workers: { hosts: ["single"] } } }).outcome();
    expect(message).toBe(undefined);
    expect(names).toEqual(Array(2).fill(ipOf("single")));
    expect(await drivers.complaint(["none"])).toMatch(
      new RegExp(
        "ended with exit code 255; its output ends with: channel \\d: open failed: connect failed: open failed; on host " +
          '"none": its server of ssh opens no session: it must allow "MaxSessions 1" or more$',
      ),
    );
  });

  test.runIf(fish !== undefined && tcsh !== undefined)("understands fish, csh, and servers with a banner", async () => {
    const hosts = ["fish", "csh", "greeting"];
    const setup = `WORD='a!b "c" $HOME \\'\nexport WORD`;
    const { names, words, message } = await drivers.start({ meshes: { workers: { hosts } }, setup }).outcome();
    expect(message).toBe(undefined);
    expect(names).toEqual(hosts.flatMap((host) => [ipOf(host), ipOf(host)]));
    expect(new Set(words)).toEqual(new Set(['a!b "c" $HOME \\']));
  });

  test("says that a jump host forwards nothing, or does not reach the host", async () => {
    const advice =
      'on host "n1": the jump host does not connect to it: check with "ssh n1" that it is up, and that the server of the ' +
      'jump host allows "AllowTcpForwarding yes"';
    const start = gone("workers[0]", "ended with exit code 255");
    const end = "stdio forwarding failed\nkex_exchange_identification: Connection closed by remote host\n";
    const closed = `${end}Connection closed by UNKNOWN port 65535; ${advice}`;
    expect(await drivers.complaint(["n1"], { sshOptions: ["-J", "closedJump"] })).toBe(
      `${start}channel 0: open failed: administratively prohibited: open failed\n${closed}`,
    );
    expect(await drivers.complaint(["n1"], { sshOptions: ["-J", "jump", "-p", "2222"] })).toBe(
      `${start}channel 0: open failed: connect failed: Connection refused\n${closed}`,
    );
  });

  test("ends its hosts when the jump host dies, and reports each of them", async () => {
    const hosts = ["n1", "greeting"];
    const options = { meshes: { workers: { hosts } }, sshOptions: ["-J", "jump"], hostTimeout: 0 };
    const driver = drivers.start(options, "wait");
    expect((await driver.outcome()).message).toBe(undefined);
    for (const pid of drivers.processesOn("jump")) process.kill(pid, "SIGKILL");
    await until(() => driver.events().filter((event) => event.startsWith("host-lost: ")).length === 2);
    await until(() => drivers.processesOn("n1", "greeting").length === 0);
    await until(() => driver.events().some((event) => event.startsWith("ended: all its hosts have ended; ")));
  });

  test("refuses a host whose key has changed", async () => {
    const keys = join(network.home, ".ssh/known_hosts");
    const known = readFileSync(keys);
    drivers.configure("changed", `HostName ${ipOf("n1")}`, "HostKeyAlias changed");
    network.trust(`changed ${readFileSync(network.userKey, "utf8").trim()}`);
    const message = await drivers.complaint(["changed"]);
    writeFileSync(keys, known);
    expect(message).toContain("WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!");
    expect(message).toContain(
      'on host "changed": its key is not a known one; run "ssh changed" once and check the key, or add it to ' +
        "~/.ssh/known_hosts. A job never accepts a key by itself",
    );
  });

  test("says that a disk is full", async () => {
    const advice =
      "free space there: the daemon is kept in ~/.cache/viceroy, or below XDG_CACHE_HOME, and its sockets in /tmp";
    expect(await drivers.complaint(["small"])).toMatch(
      new RegExp(
        `ended with exit code 70; its output ends with: .*\\nviceroy host: ENOSPC: no space left on device, write; on host "small": ${advice}$`,
      ),
    );
    expect(await drivers.complaint(["full"])).toMatch(
      new RegExp(`\\nviceroy host: ENOSPC: no space left on device, mkdir '/tmp/vj-\\S+'; on host "full": ${advice}$`),
    );
  });

  test("names a host that is not up in time, with the end of its output", async () => {
    const setup = `echo "loading modules"\n${ignoring} &\nsleep 1000`;
    const limit = limitUnderLoad(4000);
    const driver = drivers.start({ meshes: { workers: { hosts: ["n1"] } }, setup, hostTimeout: limit });
    expect(await driver.outcome()).toEqual({
      name: "JobStartTimeoutError",
      message:
        `cannot start job "viceroy": workers[0] did not come up within ${limit} ms (hostTimeout): the output of workers[0] ` +
        "ends with: loading modules",
    });
  });
});
