/** Tests of a driver that reaches the hosts of a job of SkyPilot only through one machine, by real ssh (lab/local-cloud.ts). */
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import path from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { networks } from "../faults/network.js";
import type { ClusterMachine } from "../job/lab/cluster-machines.js";
import { hasSsh } from "../job/lab/ssh-network.js";
import { entering, makeHome, makeKey, startSshServer } from "../job/lab/ssh-server.js";
import { peer } from "../peers.js";
import { permitted } from "../permitted.js";
import { LocalCloud } from "./lab/local-cloud.js";
import { localJob, testFolder } from "./lab/local-job.js";

const ssh = permitted(
  "jobs of SkyPilot through ssh",
  "Debian's packages openssh-server and openssh-client, and the right to mount",
  networks && hasSsh,
);

/** Starts a server of ssh, makes `ssh` know it as "gate", and returns the file with the arguments of each `ssh`. */
async function gate(): Promise<string> {
  const folder = testFolder();
  const home = makeHome(folder, "home");
  const key = makeKey(folder, "key");
  copyFileSync(`${key}.pub`, path.join(home, ".ssh/authorized_keys"));
  const port = await freePort();
  // The server wants a user that this machine may not have.
  const machine = { through: ["unshare", "--mount"], machine: { name: "gate" } } as unknown as ClusterMachine;
  const server = startSshServer(folder, {
    name: "gate",
    key: makeKey(folder, "host"),
    through: entering(folder, machine, home, {}),
    sshd: [`ListenAddress 127.0.0.1:${port}`],
  });
  onTestFinished(() => void process.kill(server, "SIGKILL"));
  const config = path.join(folder, "config");
  const lines = ["Host gate", "  HostName 127.0.0.1", `  Port ${port}`, "  User root", `  IdentityFile ${key}`];
  const checks = ["  StrictHostKeyChecking no", "  UserKnownHostsFile /dev/null", "  LogLevel ERROR"];
  writeFileSync(config, [...lines, ...checks, ""].join("\n"));
  const used = path.join(folder, "used");
  const wrapper = path.join(folder, "ssh");
  writeFileSync(wrapper, `#!/bin/sh\necho "$@" >> '${used}'\nexec '${peer("ssh")}' -F '${config}' "$@"\n`);
  chmodSync(wrapper, 0o755);
  vi.stubEnv("PATH", `${folder}:${process.env["PATH"]}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  await expect.poll(() => execFileSync(wrapper, ["gate", "true"]).length, { timeout: 20_000 }).toBe(0);
  return used;
}

function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  return new Promise((resolve) => {
    server.once("listening", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

test.runIf(ssh)(
  "a driver outside gets certificates signed, and reaches all hosts through one of them",
  async () => {
    const used = await gate();
    const cloud = await LocalCloud.start();
    const job = localJob(cloud, { meshes: { trainers: { hosts: 2 } }, reach: "ssh", login: "gate" });
    const trainers = (await job.state())["trainers"]!;
    expect(trainers.extent).toEqual({ hosts: 2 });
    const forwards = readFileSync(used, "utf8")
      .split("\n")
      .filter((line) => line.includes("-W"));
    const signed = forwards.filter((line) => line.includes(":20001"));
    expect(new Set(signed.map((line) => /-W (\S+)/.exec(line)![1])).size).toBe(2);
    // The second host is reached through the first one.
    const talked = forwards.filter((line) => line.includes(":20000"));
    expect(new Set(talked.map((line) => /-W (\S+)/.exec(line)![1])).size).toBe(1);
  },
  90_000,
);
