/** Tests of connections whose bytes a child process passes on, and of the errors of those that ssh makes. */
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { type ChildEnd, ChildPipe } from "../../runtime/job/ssh/forward/child-pipe.js";
import { forwardError } from "../../runtime/job/ssh/forward/forward-error.js";
import { forwardPort } from "../../runtime/job/ssh/forward/forward-port.js";
import { forwardCommand } from "../../runtime/job/ssh/ssh-command.js";
import { SshProvider } from "../../runtime/job/ssh/ssh-provider.js";
import { gone, until } from "../proc/until.js";

const target = { machine: "gate", sshOptions: [], host: "n1", port: 24_711 };
const children = new Set<number>();
afterEach(() => {
  vi.unstubAllEnvs();
  for (const pid of children) if (!gone(pid)) process.kill(pid, "SIGKILL");
  children.clear();
});

/** Starts a child that runs a line of the shell, and reads what it passes on. */
function start(line: string) {
  const child = spawn("sh", ["-c", line], { stdio: "pipe" });
  children.add(child.pid!);
  const ends: ChildEnd[] = [];
  const pipe = new ChildPipe(child, (end) => {
    ends.push(end);
    return end.code === 0 ? undefined : new Error("it has failed");
  });
  pipe.ref();
  const memory = new Uint8Array(1000);
  let text = "";
  let received = 0;
  const closed = new Promise<Error | undefined>((resolve) => {
    queueMicrotask(() =>
      pipe.open({
        buffer: () => memory,
        received: (n) => {
          received += n;
          if (received < 10_000) text += Buffer.from(memory.subarray(0, n)).toString();
        },
        closed: resolve,
      }),
    );
  });
  return { pipe, child, ends, closed, text: () => text, received: () => received };
}

const write = (pipe: ChildPipe, text: string) =>
  new Promise<void>((done) =>
    pipe.write(
      [...text].map((letter) => Buffer.from(letter)),
      done,
    ),
  );

describe("a pipe of a child process", () => {
  test("passes bytes in both directions, and ends in order when it is closed", async () => {
    const { pipe, closed, text, child } = start("cat");
    await write(pipe, "hello");
    await until(() => text() === "hello");
    pipe.close();
    expect(await closed).toBe(undefined);
    expect(gone(child.pid!)).toBe(true);
    // What is written later is dropped, and the writer is told.
    await write(pipe, "late");
  });

  test("delivers all bytes of a child that ends in order", async () => {
    const { closed, received } = start("head -c 3000000 /dev/zero");
    expect(await closed).toBe(undefined);
    expect(received()).toBe(3_000_000);
  });

  test("makes a child wait while it is paused", async () => {
    const { pipe, received } = start("cat /dev/zero");
    await until(() => received() > 0);
    pipe.pause();
    let before = -1;
    await until(() => {
      const same = before === received();
      before = received();
      return same;
    });
    pipe.resume();
    await until(() => received() > before);
    pipe.destroy();
  });

  test("has the end of what the child has complained about, and the signal that ended it", async () => {
    const { ends, closed } = start("yes complaint | head -c 100000 >&2; echo last >&2; kill -9 $$");
    expect((await closed)?.message).toBe("it has failed");
    const [end] = ends;
    expect(end).toMatchObject({ code: null, signal: "SIGKILL" });
    expect(end!.said).toHaveLength(2000);
    expect(end!.said.endsWith("complaint\nlast\n")).toBe(true);
  });

  test("ends although something else holds the child's standard error open", async () => {
    const { closed, child, text } = start('sleep 600 > /dev/null < /dev/null & echo "$!" ; exit 3');
    expect((await closed)?.message).toBe("it has failed");
    expect(child.exitCode).toBe(3);
    process.kill(Number(text()));
  });

  test("ends a child that it is destroyed with, also one that ignores SIGTERM, and one that does not end by itself", async () => {
    const stubborn = start('trap "" TERM; echo begun; while :; do sleep 1; done');
    await until(() => stubborn.text() === "begun\n");
    stubborn.pipe.destroy(new Error("not needed any more"));
    expect((await stubborn.closed)?.message).toBe("not needed any more");
    const idle = start("exec sleep 600");
    idle.pipe.close();
    expect(await idle.closed).toBe(undefined);
    expect([stubborn, idle].map(({ child }) => gone(child.pid!))).toEqual([true, true]);
  });
});

describe("the error of a connection through ssh", () => {
  const errorOf = (said: string, end: Partial<ChildEnd> = {}) => {
    const error = forwardError(target, { code: 255, signal: null, said, ...end });
    return error && { message: error.message, code: (error as NodeJS.ErrnoException).code };
  };

  test("is none if the other side has closed it", () => {
    expect(errorOf("", { code: 0 })).toBe(undefined);
  });

  test("says what the server must allow, and is not tried again", () => {
    expect(
      errorOf(
        "Use by others is prohibited.\r\nchannel 0: open failed: administratively prohibited: open failed\r\nstdio forwarding failed\r\n",
      ),
    ).toEqual({
      message:
        'ssh cannot connect to anything through "gate": channel 0: open failed: administratively prohibited: open failed; stdio ' +
        'forwarding failed; the server of ssh there must allow "AllowTcpForwarding yes", and no PermitOpen may exclude the hosts of the job',
      code: undefined,
    });
  });

  test("names the address to which nothing leads", () => {
    expect(
      errorOf("channel 0: open failed: connect failed: Connection refused\r\nstdio forwarding failed\r\n"),
    ).toEqual({
      message:
        'ssh cannot connect to n1:24711 through "gate": channel 0: open failed: connect failed: Connection refused; stdio forwarding ' +
        'failed; see whether something listens there, and whether "gate" reaches it',
      code: "ECONNRESET",
    });
  });

  test("has the words of ssh and advice", () => {
    expect(errorOf("ssh: connect to host gate port 22: No route to host\r\n")).toEqual({
      message:
        'the connection of ssh to "gate" has failed: ssh: connect to host gate port 22: No route to host; check with "ssh gate" that it ' +
        "is up and that its port of ssh can be reached",
      code: "ECONNRESET",
    });
    expect(errorOf("ann@gate: Permission denied (publickey).\r\n")).toEqual({
      message:
        'the connection of ssh to "gate" has failed: ann@gate: Permission denied (publickey).; ssh would have to ask for a password or a ' +
        'passphrase, which a job cannot answer; set up a key and an agent until "ssh -o BatchMode=yes gate true" works',
      code: undefined,
    });
    // A jump host before the machine forbids forwarding.
    const before =
      "channel 0: open failed: administratively prohibited: open failed\nstdio forwarding failed\nkex_exchange_identification: Connection closed by remote host\n";
    expect(errorOf(before)?.message).toMatch(
      /^the connection of ssh to "gate" has failed: .*; the jump host does not connect to it: check with "ssh gate" that it is up/,
    );
  });

  test("tells how ssh has ended if it has said nothing, and keeps the last lines of many", () => {
    expect(errorOf("")?.message).toBe('the connection of ssh to "gate" has failed: ssh has ended with exit code 255');
    expect(errorOf("", { code: null, signal: "SIGKILL" })).toEqual({
      message: 'the connection of ssh to "gate" has failed: ssh was ended by SIGKILL',
      code: "ECONNRESET",
    });
    const lines = Array.from({ length: 50 }, (_, i) => `line ${i}\n`).join("");
    expect(errorOf(lines)?.message).toBe(
      'the connection of ssh to "gate" has failed: line 46; line 47; line 48; line 49',
    );
  });
});

describe("ssh as the way to a port", () => {
  test("gets the user's arguments first, and an IPv6 address in brackets", () => {
    const command = forwardCommand({ ...target, sshOptions: ["-J", "jump"], host: "fd00::1" });
    expect(command.slice(0, 5)).toEqual(["ssh", "-o", "BatchMode=yes", "-J", "jump"]);
    expect(command.slice(-4)).toEqual(["-W", "[fd00::1]:24711", "--", "gate"]);
  });

  test("says that there is no program ssh", async () => {
    vi.stubEnv("PATH", mkdtempSync(join(tmpdir(), "vt-")));
    await expect(forwardPort(target, new AbortController().signal)).rejects.toThrow(
      "there is no program ssh here; install ssh",
    );
  });

  test("is ended with the attempt that needs it, and is not started after that", async () => {
    const bin = mkdtempSync(join(tmpdir(), "vt-"));
    writeFileSync(join(bin, "ssh"), "#!/bin/sh\nexec /bin/sleep 600\n");
    chmodSync(join(bin, "ssh"), 0o755);
    vi.stubEnv("PATH", bin);
    const giveUp = new AbortController();
    const connecting = forwardPort(target, giveUp.signal);
    giveUp.abort(new Error("not needed any more"));
    const pipe = await connecting;
    const memory = new Uint8Array(10);
    pipe.ref();
    const closed = new Promise<Error | undefined>((resolve) =>
      pipe.open({ buffer: () => memory, received() {}, closed: resolve }),
    );
    expect((await closed)?.message).toBe("not needed any more");
    await expect(forwardPort(target, giveUp.signal)).rejects.toThrow("not needed any more");
  });

  test("needs a host that is up", async () => {
    const spec = {
      meshes: { workers: { hosts: ["n1"] } },
      sshOptions: [],
      port: null,
      tls: null,
      setup: null,
      node: null,
    };
    const nowhere = mkdtempSync(join(tmpdir(), "vt-"));
    const allocation = { applyId: "x", directory: nowhere, logs: nowhere };
    const dialled = new SshProvider(spec).dialPort(allocation, { mesh: "workers", rank: 0 }, 80);
    await expect(dialled).rejects.toThrow("host workers[0] is not up");
  });
});
