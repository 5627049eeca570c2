/** Tests of the questions to a login node whether hosts listen. The login node is this machine. */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { LoginCommands } from "../../runtime/job/reach/login-commands.js";
import { LoginProbe } from "../../runtime/job/reach/login-probe.js";
import { NodeReach } from "../../runtime/job/reach/node-reach.js";

/** The commands of this machine, which count how many have run. */
class CountingCommands extends LoginCommands {
  count = 0;

  constructor() {
    super(null);
  }

  override run(command: readonly string[], input?: string): Promise<string> {
    this.count++;
    return super.run(command, input);
  }
}

async function listen(): Promise<number> {
  const server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

test("hosts that are asked at the same time share a command, and each has its own answer", async () => {
  const commands = new CountingCommands();
  const probe = new LoginProbe(commands);
  const port = await listen();
  const asked = [
    { node: "127.0.0.1", port },
    { node: "127.0.0.1", port: 1 },
    { node: "127.0.0.1", port },
  ].map((host) => probe.ask(host));
  const [first, second, third] = await Promise.allSettled(asked);
  expect([first, third].map((answer) => answer?.status)).toEqual(["fulfilled", "fulfilled"]);
  expect(second).toMatchObject({ status: "rejected", reason: { message: "Connection refused" } });
  expect(commands.count).toBe(1);
});

test("one command asks 64 hosts at most, and those that are asked meanwhile belong to the next one", async () => {
  const commands = new CountingCommands();
  const probe = new LoginProbe(commands);
  const port = await listen();
  await Promise.all(Array.from({ length: 65 }, () => probe.ask({ node: "127.0.0.1", port })));
  expect(commands.count).toBe(2);
  await probe.ask({ node: "127.0.0.1", port });
  expect(commands.count).toBe(3);
});

test("a login node that cannot be asked, or does not say anything, is a reason", async () => {
  class Broken extends CountingCommands {
    override async run(): Promise<string> {
      if (this.count++ === 0) throw new Error("ssh: connect to host gate port 22: No route to host");
      return "Welcome to gate\n";
    }
  }
  const probe = new LoginProbe(new Broken());
  const host = { node: "n1", port: 9 };
  await expect(probe.ask(host)).rejects.toThrow("ssh: connect to host gate port 22: No route to host");
  await expect(probe.ask(host)).rejects.toThrow("the login node does not say whether it answers");
});

test("a host that does not answer at its own name may be another machine, which the error says if there is a login node", async () => {
  const silent = (login: string | null) =>
    new NodeReach(login, "direct", new CountingCommands()).waitForAnswer(
      { node: "127.0.0.1", port: 1 },
      AbortSignal.timeout(100),
    );
  const text = "runs on node 127.0.0.1, and does not answer at port 1: connect ECONNREFUSED 127.0.0.1:1";
  await expect(silent("gate")).rejects.toThrow(
    `${text}; if this machine does not reach the nodes, use the option reach: "ssh"`,
  );
  await expect(silent(null)).rejects.toThrow(new RegExp(`^${text}$`));
});
