/** Tests of `viceroy doctor --ssh` against real servers of ssh, each of which lacks something. */
import { execFile } from "node:child_process";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Finding } from "../../runtime/job/ssh/doctor/finding.js";
import { networks } from "../faults/network.js";
import { peer } from "../peers.js";
import { permitted } from "../permitted.js";
import { project } from "../proc/crew.js";
import { until } from "../proc/until.js";
import { fullTmp, hasSsh, oldNode, type SshMachineOptions, SshNetwork, withoutNode } from "./lab/ssh-network.js";

const ssh = permitted("doctor --ssh", "Debian's packages openssh-server and openssh-client", hasSsh);
const [fish, tcsh] = [peer("fish"), peer("tcsh")];
const cli = fileURLToPath(new URL("../../dist/cli/viceroy.js", import.meta.url));

const machines: Record<string, SshMachineOptions> = {
  n1: {},
  n2: {},
  bare: { prepare: withoutNode },
  managed: { prepare: withoutNode },
  old: { sshd: [`SetEnv PATH=${oldNode()}:/usr/bin:/bin`] },
  closed: { shell: "/usr/sbin/nologin" },
  strict: { sshd: ["AllowStreamLocalForwarding no"] },
  small: { prepare: 'mkdir -p "$HOME/.cache" && mount -t tmpfs -o size=1M tmpfs "$HOME/.cache"' },
  full: { prepare: fullTmp },
  ...(fish === undefined ? {} : { fish: { shell: fish } }),
  ...(tcsh === undefined ? {} : { csh: { shell: tcsh } }),
};
const network = networks && ssh ? new SshNetwork(machines) : (undefined as unknown as SshNetwork);

interface Report {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs the command on the machine of the driver, in a project.
 * @param through a further prefix of the command
 */
function doctor(args: readonly string[], env = {}, through: readonly string[] = []): Promise<Report> {
  const [file, ...prefix] = [...network.through, ...through, process.execPath, cli, "doctor", ...args];
  return new Promise((resolve) => {
    const options = { cwd: project, env: { ...network.env, ...env }, encoding: "utf8" } as const;
    execFile(file!, prefix, options, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

/** Returns the findings that are not `ok`, without the name of the host. */
function complaintsOf({ stdout, stderr }: Report): readonly Omit<Finding, "host">[] {
  expect(stderr).toBe("");
  const found = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Finding);
  return found.filter(({ level }) => level !== "ok").map(({ host: _, ...finding }) => finding);
}

const complaints = async (...hosts: readonly string[]) =>
  complaintsOf(await doctor([...hosts.flatMap((host) => ["--ssh", host]), "--json"]));

/** Returns the complaints about the hosts of a job with these options. */
async function complaintsOfJob(options: object): Promise<readonly Omit<Finding, "host">[]> {
  const wanted = { meshes: { workers: { hosts: ["n1"] } }, ...options };
  const env = { JOB_OPTIONS: JSON.stringify(wanted) };
  return complaintsOf(await doctor(["--job", "programs/ssh-jobs.ts", "--json"], env));
}

/** Describes a name in the driver's configuration of ssh. */
function configure(name: string, ...lines: readonly string[]): void {
  appendFileSync(network.config, `Host ${name}\n${lines.map((line) => `  ${line}\n`).join("")}`);
}

const machineOf = (name: string) => network.machines[name]!.cluster.machine;
const nodeAdvice =
  "install Node.js 20.9 or later there, name it with the option node, or make it available with the option setup";

describe.runIf(networks && ssh)("doctor --ssh", () => {
  beforeAll(() => network.listening());
  afterEach(async () => {
    // Neither processes nor files are left on any machine.
    await until(() =>
      Object.values(network.machines).every(({ cluster, server }) =>
        cluster.machine.pids.every((pid) => pid === server),
      ),
    );
    const homes = Object.values(network.machines).flatMap(({ home }) =>
      readdirSync(home, { recursive: true, encoding: "utf8" }),
    );
    const left = [...readdirSync("/tmp"), ...readdirSync(tmpdir()), ...homes];
    expect(left.filter((name) => /^vdoc-|viceroy-doctor/.test(name))).toEqual([]);
  });

  test("prints a row for each host, and exits with 0 if jobs run on all of them", async () => {
    expect(await doctor(["--ssh", "n1", "--ssh", "n2"])).toEqual({
      status: 0,
      stderr: "",
      stdout: [
        "host  name  connect  key  login  shell  node  files  disk  sockets  peers  clock  platform  package",
        "n1    ok    ok       ok   ok     ok     ok    ok     ok    ok       ok     ok     ok        ok",
        "n2    ok    ok       ok   ok     ok     ok    ok     ok    ok       ok     ok     ok        ok",
        "No problems.",
        "",
      ].join("\n"),
    });
  });

  test("prints what is missing and what to do below the table, and exits with 1", async () => {
    const { status, stdout } = await doctor(["--ssh", "n1", "--ssh", "closed"]);
    expect({ status, lines: stdout.split("\n") }).toEqual({
      status: 1,
      lines: [
        "host    name  connect  key  login  shell  node  files  disk  sockets  peers  clock  platform  package",
        "n1      ok    ok       ok   ok     ok     ok    ok     ok    ok       ok     ok     ok        ok",
        "closed  ok    ok       ok   ok     FAIL   -     -      -     -        -      -      -         -",
        "FAIL closed: shell: the login shell ended with exit code 1: This account is currently not available.",
        '     the login shell of the user there must run commands: see the last field of "getent passwd", and change it ' +
          'with "chsh"; try "ssh closed /bin/sh -c true"',
        "1 problem.",
        "",
      ],
    });
  });

  test("finds out that a name does not resolve, and checks the other hosts", async () => {
    const found = await complaints("nowhere.invalid", "n1");
    expect(found).toEqual([
      {
        check: "name",
        level: "problem",
        text: expect.stringMatching(/^ssh: Could not resolve hostname nowhere\.invalid: /),
        advice: "check its name, or describe it in ~/.ssh/config",
      },
    ]);
  });

  test("finds out that no server of ssh answers", async () => {
    configure("silent", `HostName ${machineOf("n1").ip}`, "Port 2222");
    expect(await complaints("silent")).toEqual([
      {
        check: "connect",
        level: "problem",
        text: `ssh: connect to host ${machineOf("n1").ip} port 2222: Connection refused`,
        advice: 'check with "ssh silent" that it is up and that its port of ssh can be reached',
      },
    ]);
  });

  test("never accepts a key of a host that is not known or has changed", async () => {
    configure("stranger", `HostName ${machineOf("n1").ip}`, "HostKeyAlias stranger");
    const keys = join(network.home, ".ssh/known_hosts");
    const known = readFileSync(keys, "utf8");
    const advice =
      'its key is not a known one; run "ssh stranger" once and check the key, or add it to ~/.ssh/known_hosts. A job ' +
      "never accepts a key by itself";
    const refused = { check: "key", level: "problem", advice };
    expect(await complaints("stranger")).toEqual([{ ...refused, text: "Host key verification failed." }]);
    expect(readFileSync(keys, "utf8")).toBe(known);
    // Another key than that of the host.
    network.trust(`stranger ${readFileSync(network.userKey, "utf8").trim()}`);
    const [changed] = await complaints("stranger");
    writeFileSync(keys, known);
    expect(changed).toEqual({
      ...refused,
      text: expect.stringContaining("WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!"),
    });
  });

  test("finds out that ssh would ask for a password", async () => {
    expect(await complaintsOfJob({ sshOptions: ["-F", "none"] })).toEqual([
      {
        check: "login",
        level: "problem",
        text: "root@n1: Permission denied (publickey).",
        advice:
          "ssh would have to ask for a password or a passphrase, which a job cannot answer; set up a key and an agent " +
          'until "ssh -o BatchMode=yes n1 true" works',
      },
    ]);
  });

  test.runIf(fish !== undefined && tcsh !== undefined)("understands the login shells fish and csh", async () => {
    expect(await complaints("fish", "csh")).toEqual([]);
  });

  test("finds out that a line of setup fails, and what the machine has besides", async () => {
    expect(await complaintsOfJob({ setup: "echo no such module >&2\nfalse" })).toEqual([
      {
        check: "shell",
        level: "problem",
        text: "the lines of setup ended with exit code 1: no such module",
        advice: "change the option setup of the job; its lines run in /bin/sh, and each must succeed",
      },
    ]);
  });

  test("finds out that there is no Node.js, and finds one of a version manager", async () => {
    const text = "there is no Node.js here: the shell finds no program node";
    expect(await complaints("bare")).toEqual([{ check: "node", level: "problem", text, advice: nodeAdvice }]);
    const installed = join(network.machines["managed"]!.home, ".nvm/versions/node/v22.1.0/bin/node");
    mkdirSync(dirname(installed), { recursive: true });
    writeFileSync(installed, "#!/bin/sh\n", { mode: 0o755 });
    const advice =
      "nvm has installed one, which only terminals find: use the option setup: '. \"$HOME/.nvm/nvm.sh\"', or " +
      `node: "${installed}"`;
    expect(await complaints("managed")).toEqual([{ check: "node", level: "problem", text, advice }]);
  });

  test("finds out that Node.js is too old", async () => {
    const text = "Node.js 18.20.4 is too old, 20.9 is the oldest that works";
    expect(await complaints("old")).toEqual([{ check: "node", level: "problem", text, advice: nodeAdvice }]);
  });

  test("finds out that nothing can be written to /tmp", async () => {
    expect(await complaints("full")).toEqual([
      {
        check: "files",
        level: "problem",
        text: expect.stringMatching(/^it cannot write to \/tmp: mkdir: .*\/tmp\/.*: No space left on device$/),
        advice:
          "a host keeps its daemon in ~/.cache/viceroy, or below XDG_CACHE_HOME, and its sockets in /tmp: make both " +
          "writable for the user, and free space",
      },
      {
        check: "sockets",
        level: "problem",
        text: expect.stringMatching(/^it cannot make a socket: ENOSPC: no space left on device, mkdir '\/tmp\/vdoc-/),
        advice: "make /tmp writable for the user, and free space there",
      },
    ]);
  });

  test("finds out that the disk is almost full", async () => {
    const folder = join(network.machines["small"]!.home, ".cache");
    expect(await complaints("small")).toEqual([
      {
        check: "disk",
        level: "problem",
        text: `1 MiB free in ${folder}`,
        advice: "free space there: daemons, logs and the files of programs need it",
      },
    ]);
  });

  test("finds out that the server forwards no sockets", async () => {
    expect(await complaints("strict")).toEqual([
      {
        check: "sockets",
        level: "problem",
        text: "this machine does not reach a socket there through ssh: channel 2: open failed: connect failed: open failed",
        advice: 'its server of ssh must allow "AllowStreamLocalForwarding yes", through which a driver reaches a host',
      },
    ]);
  });

  test("finds out which other hosts a host does not reach", async () => {
    const { ip } = machineOf("n2");
    machineOf("n1").rejectTo(machineOf("n2"));
    try {
      const [found, ...further] = await complaints("n1", "n2");
      expect(further).toEqual([]);
      expect(found).toEqual({
        check: "peers",
        level: "note",
        text: expect.stringMatching(new RegExp(`^it does not reach n2 \\(connect ECONNREFUSED ${ip}:\\d+\\)$`)),
        advice:
          "their messages go through the driver instead, which is slower; for the direct way, let hosts connect to all " +
          "ports, or one port that the option port names",
      });
    } finally {
      machineOf("n1").heal();
    }
  });

  test("finds out that the port of a job is taken", async () => {
    const { ip } = machineOf("n1");
    const text = `it cannot listen for other hosts: listen EADDRINUSE: address already in use ${ip}:22`;
    const advice = "end the program that uses port 22 there, or choose another one with the option port";
    expect(await complaintsOfJob({ port: 22 })).toEqual([{ check: "peers", level: "problem", text, advice }]);
  });

  test("finds out that the package of the program is not on the host", async () => {
    // Only the driver sees this folder.
    const hidden =
      'mount -t tmpfs tmpfs /mnt && mkdir /mnt/shop && cd /mnt/shop && echo {} > package.json && exec "$@"';
    const report = await doctor(["--ssh", "n1", "--json"], {}, ["sh", "-c", hidden, "sh"]);
    expect(complaintsOf(report)).toEqual([
      {
        check: "package",
        level: "note",
        text: "there is no folder /mnt/shop",
        advice: "copy your package there, with its generated code and node_modules: no code of yours is sent",
      },
    ]);
  });

  test("finds out that there is no ssh on this machine", async () => {
    const report = await doctor(["--ssh", "n1", "--json"], {}, ["env", "PATH=/nowhere"]);
    expect(complaintsOf(report)).toEqual([
      {
        check: "connect",
        level: "problem",
        text: "ssh cannot be started here: spawn ssh ENOENT",
        advice: "install a client of OpenSSH on this machine, and put it on the PATH",
      },
    ]);
  });

  test("takes the hosts and the options of a job, or hosts that are named besides", async () => {
    const env = {
      JOB_OPTIONS: JSON.stringify({ meshes: { a: { hosts: ["bare"] }, b: { hosts: ["n1"] } }, node: "/x" }),
    };
    const args = ["--job", "programs/ssh-jobs.ts", "--json"];
    const texts = (report: Report) => complaintsOf(report).map(({ text }) => text);
    const missing = "there is no Node.js here: the shell finds no program /x";
    expect(texts(await doctor(args, env))).toEqual([missing, missing]);
    expect(texts(await doctor([...args, "--ssh", "n2"], env))).toEqual([missing]);
  });

  test("refuses wrong usage with exit code 3", async () => {
    const errors = [
      [["--ssh", "-oProxyCommand=x"], 'as names such as "node1" or "user@node1", got "-oProxyCommand=x"'],
      [["--ssh", "n1", "--ssh", "n1"], 'host "n1" is both hosts[0] and hosts[1]'],
      [["--json"], "cannot check: --json needs --ssh or --job"],
      [["--job", "nope.ts"], "cannot use nope.ts: no such file"],
      [["--job", "programs/jobs.ts"], "its job is not an SSHJob; name hosts with --ssh"],
    ] as const;
    for (const [args, message] of errors) {
      const { status, stderr } = await doctor(args);
      expect(stderr).toContain(message);
      expect(status).toBe(3);
    }
  });
});
