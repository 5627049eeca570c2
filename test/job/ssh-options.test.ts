/** Tests of jobs over ssh that need no server of ssh: their options, their command line, and the daemon they bring. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { SSHJob } from "viceroy/job";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type DaemonArchive, makeDaemonArchive } from "../../runtime/job/ssh/daemon-archive.js";
import { sshCommand } from "../../runtime/job/ssh/ssh-command.js";
import { installDaemon } from "../../runtime/job/ssh/starter/install-daemon.js";

describe("the options of a job over ssh are checked when it is made", () => {
  const make = (options: object) => () => new SSHJob({ meshes: { workers: { hosts: ["n1"] } }, ...options });

  test("a host is used once, in all meshes together", () => {
    expect(make({ meshes: { workers: { hosts: ["n1", "n2"] }, loaders: { hosts: ["n3", "n1"] } } })).toThrow(
      'cannot make a job: host "n1" is both workers[0] and loaders[1]; a job uses each host once, so give the host ' +
        "once, and start several processes on it with spawnProcs",
    );
    expect(make({ meshes: { workers: { hosts: ["n1", "n1"] } } })).toThrow(
      'host "n1" is both workers[0] and workers[1]',
    );
  });

  test.each([
    [{ meshes: { workers: { hosts: 2 } } }, 'expected hosts of mesh "workers" as a list of names, got 2'],
    [
      { meshes: { workers: { hosts: [] } } },
      'expected hosts of mesh "workers" as a whole number from 1 to 100000, got 0',
    ],
    [
      { meshes: { workers: { hosts: ["-oProxyCommand=x"] } } },
      'expected hosts of mesh "workers" as names such as "node1" or "user@node1", got "-oProxyCommand=x"',
    ],
    [{ meshes: { workers: { hosts: ["n1 n2"] } } }, 'as names such as "node1" or "user@node1", got "n1 n2"'],
    [
      { meshes: { workers: { hosts: ["n1"], spare: "n2" } } },
      'expected spare of mesh "workers" as a list of names, got "n2"',
    ],
    [
      { meshes: { workers: { hosts: ["n1"], spare: ["-v"] } } },
      'expected spare of mesh "workers" as names such as "node1" or "user@node1", got "-v"',
    ],
    [
      { meshes: { workers: { hosts: ["n1"], spare: ["n2"] }, loaders: { hosts: ["n2"] } } },
      'host "n2" is both workers[1] and loaders[0]',
    ],
    [{ sshOptions: "-v" }, 'expected sshOptions as a list of arguments of ssh, got "-v"'],
    [{ sshOptions: [""] }, 'expected each of sshOptions as an argument of ssh, got ""'],
    [{ port: 70_000 }, "expected port from 1 to 65535, got 70000"],
  ])("%j is refused", (options, message) => {
    expect(make(options)).toThrow(message);
  });
});

describe("the command that ssh runs", () => {
  /** Returns the last argument of ssh: what the login shell of the host reads. */
  const commandOf = (setup: string, node: string) =>
    sshCommand({
      host: "n1",
      sshOptions: ["-p", "2222"],
      forwards: [
        { local: "/tmp/local.sock", remote: "/tmp/remote.sock" },
        { local: "/tmp/second.sock", remote: "/tmp/other.sock" },
      ],
      env: { GIVEN: "it's" },
      setup,
      node,
    });

  test("is one line without characters that login shells read differently", () => {
    const command = commandOf("echo 'a!b'\necho \\\\ ü", "node").at(-1)!;
    expect(command).toMatch(/^[ -~]+$/);
    expect(command).not.toContain("!");
    const [, script] = /^exec \/bin\/sh -c '[^'\\]+' sh '([^']*)'$/.exec(command) ?? [];
    expect(script).toMatch(/^(?:[^\\]|\\0[0-7]{3})+$/);
  });

  test("gives standard input to Node.js, not to the lines of setup", () => {
    const command = commandOf('read -r LINE || LINE=none\nexport LINE="$LINE $GIVEN 100% \\\\n ü!"', "/bin/sh").at(-1)!;
    // The shell takes the part of Node.js: it prints what it was given instead.
    const shell = command.replace(/exec \\0047\/bin\/sh\\0047 -e .*'$/s, `printf "%s|" "$LINE"; cat'`);
    expect(shell).not.toBe(command);
    expect(execFileSync("/bin/sh", ["-c", shell], { input: "for the daemon", encoding: "utf8" })).toBe(
      "none it's 100% \\n ü!|for the daemon",
    );
  });

  test("comes after options that never ask the user", () => {
    const args = commandOf("", "node");
    expect(args.slice(0, 5)).toEqual(["ssh", "-o", "BatchMode=yes", "-p", "2222"]);
    const forwards = ["-L", "/tmp/local.sock:/tmp/remote.sock", "-L", "/tmp/second.sock:/tmp/other.sock"];
    expect(args.slice(-7, -1)).toEqual([...forwards, "--", "n1"]);
    expect(args.join(" ")).not.toMatch(/StrictHostKeyChecking|UserKnownHostsFile/);
  });
});

const dist = new URL("../../dist/", import.meta.url);

describe("the daemon that a job brings to a host", () => {
  let cache: string;
  let archive: DaemonArchive;
  beforeEach(() => {
    cache = mkdtempSync(join(tmpdir(), "vd-"));
    vi.stubEnv("XDG_CACHE_HOME", cache);
    archive = makeDaemonArchive(dist);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  /** Installs the daemon from bytes that arrive in two parts, and returns its folder and whether it was asked for. */
  async function install(bytes: Buffer, rest = ""): Promise<{ folder: string; asked: number; left: string }> {
    const input = new PassThrough();
    let asked = 0;
    const folder = await installDaemon(archive.order, input, () => {
      asked++;
      input.write(bytes.subarray(0, 1000));
      setImmediate(() => input.end(Buffer.concat([bytes.subarray(1000), Buffer.from(rest)])));
    });
    return { folder, asked, left: String(input.read() ?? "") };
  }

  test("is complete and private, and what follows it stays in the input", async () => {
    const { folder, asked, left } = await install(archive.bytes, "beat");
    expect([asked, left]).toEqual([1, "beat"]);
    expect(folder).toBe(join(cache, "viceroy", `${archive.order.version}-${archive.order.hash.slice(0, 16)}`));
    for (const name of ["runtime.cjs", "runtime-rest.cjs", "load.cjs", "boot.cjs", "typescript/register.js"]) {
      expect(readFileSync(join(folder, name)).equals(readFileSync(new URL(name, dist)))).toBe(true);
      expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
    }
    expect((await install(Buffer.alloc(0))).asked).toBe(0);
  });

  test("is asked for again when a file was changed, or others could have written it", async () => {
    const { folder } = await install(archive.bytes);
    writeFileSync(join(folder, "load.cjs"), "changed");
    expect((await install(archive.bytes)).asked).toBe(1);
    expect((await install(archive.bytes)).asked).toBe(0);
    execFileSync("chmod", ["o+w", join(folder, "boot.cjs")]);
    expect((await install(archive.bytes)).asked).toBe(1);
    expect(readdirSync(join(cache, "viceroy"))).toHaveLength(1);
  });

  test("is refused when bytes of it are missing or changed, and leaves nothing", async () => {
    const { length, hash } = archive.order;
    await expect(install(archive.bytes.subarray(0, 5000))).rejects.toThrow(
      `cannot install the daemon: expected ${length} bytes, got 5000 before the end of the connection`,
    );
    await expect(install(Buffer.alloc(length, 1))).rejects.toThrow(
      "cannot install the daemon: the connection has changed its bytes",
    );
    archive = { ...archive, order: { ...archive.order, hash: "0".repeat(64) } };
    await expect(install(archive.bytes)).rejects.toThrow(
      `cannot install the daemon: expected bytes with the SHA-256 ${"0".repeat(64)}, got ${hash}`,
    );
    expect(existsSync(join(cache, "viceroy"))).toBe(false);
  });

  test("can be installed by two jobs at the same time", async () => {
    const folders = await Promise.all([install(archive.bytes), install(archive.bytes)]);
    expect(folders.map(({ asked }) => asked)).toEqual([1, 1]);
    expect(folders[0]!.folder).toBe(folders[1]!.folder);
    expect((await install(Buffer.alloc(0))).asked).toBe(0);
    expect(readdirSync(join(cache, "viceroy"))).toHaveLength(1);
  });
});
