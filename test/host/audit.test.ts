/** Tests of what a host notes about the drivers that use it. */
import { readFileSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { afterAll, expect, test } from "vitest";
import { describeDriver } from "../../runtime/host/daemon/driver-origin.js";
import { parseIdentity } from "../../runtime/link/transport/tls/identity.js";
import { Authority } from "../link/transport/tls/certificates.js";
import { loadCrew } from "../proc/crew.js";
import { until } from "../proc/until.js";
import { attachPatiently } from "./attach-patiently.js";
import { startHost } from "./start-host.js";

const authority = new Authority();
afterAll(() => authority.remove());

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
const job = "7d0f";
const own = `process ${process.pid} of user ${userInfo().username} on ${hostname()}`;

function issue(name: string) {
  return authority.issue(name.replaceAll("/", "-"), 1, `URI:viceroy://${job}/${name}`);
}

async function secureHost(rank: number) {
  const { cert, key, ca } = issue(`hosts/workers/${rank}`);
  return startHost("tls://127.0.0.1:0", ["--cert", cert, "--key", key, "--ca", ca]);
}

/** Returns the lines of a host about its drivers, with the ports replaced. */
function notes({ output }: { readonly output: { readonly text: string } }): string[] {
  const lines = output.text.split("\n").filter((line) => /^viceroy host: (attached|left|a driver)/.test(line));
  return lines.map((line) => line.replace(/127\.0\.0\.1:\d+/g, "PEER"));
}

test("a host notes who attaches, from where and with which certificate, and why the driver has left", async () => {
  await loadCrew();
  const host = await secureHost(0);
  const who = `${own}, from PEER, as viceroy://${job}/driver, Viceroy ${version}`;
  const hosts = attachPatiently([host.address], { tls: issue("driver") });
  await hosts.ready;
  await until(() => notes(host).length === 1);
  expect(notes(host)).toEqual([`viceroy host: attached: ${who}`]);
  await hosts.stop({ reason: "the work is done" });
  await until(() => notes(host).length === 2);
  expect(notes(host)[1]).toBe(`viceroy host: left: ${who}: the work is done`);
});

test("a driver gateway notes who reaches other hosts through it, and these note the driver", async () => {
  await loadCrew();
  const gateway = await secureHost(0);
  const inner = await secureHost(1);
  const hosts = attachPatiently([inner.address], { tls: issue("driver"), through: gateway.address });
  await hosts.ready;
  await until(() => notes(gateway).length === 2 && notes(inner).length === 1);
  const origin = `from PEER, as viceroy://${job}/driver`;
  expect(notes(gateway).sort()).toEqual([
    `viceroy host: a driver reaches other hosts through this one, ${origin}`,
    `viceroy host: attached: ${own}, ${origin}, Viceroy ${version}`,
  ]);
  expect(notes(inner)).toEqual([`viceroy host: attached: ${own}, ${origin}, Viceroy ${version}`]);
  await hosts.stop();
});

test("a driver of this machine without a certificate is noted by what it says", async () => {
  await loadCrew();
  const host = await startHost();
  await using hosts = attachPatiently([host.address]);
  await hosts.ready;
  await until(() => notes(host).length === 1);
  expect(notes(host)).toEqual([`viceroy host: attached: ${own}, Viceroy ${version}`]);
});

test("a driver that says nothing of itself is a process", () => {
  expect(describeDriver({ viceroy: "1" }, { peer: "10.0.0.7:1" })).toBe("a process, from 10.0.0.7:1, Viceroy 1");
});

test("what a driver says of itself is one line of bounded length", () => {
  const driver = `me\nviceroy host: attached: root\u001b[2J\u0085\u2028\u202e${"x".repeat(10_000)}`;
  const identity = { ...parseIdentity("viceroy://job/controller"), key: "a" };
  const line = describeDriver({ driver, viceroy: "1\r2" }, { identity });
  expect(line).toMatch(
    /^me\?viceroy host: attached: root\?\[2J\?\?\?x+, as viceroy:\/\/job\/controller, Viceroy 1\?2$/,
  );
  expect(line.length).toBeLessThan(260);
});
