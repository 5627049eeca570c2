/** Tests of how `viceroy doctor --ssh` judges hosts that differ from this machine in ways that a test cannot give them. */
import { expect, test } from "vitest";
import { findingsOf } from "../../runtime/job/ssh/doctor/findings.js";
import type { NodeFacts } from "../../runtime/job/ssh/doctor/probe-lines.js";
import type { HostFacts } from "../../runtime/job/ssh/doctor/probed-host.js";

const heardAt = Date.UTC(2026, 0, 1);
const node: NodeFacts = {
  version: "22.1.0",
  path: "/usr/bin/node",
  platform: "linux-x64",
  hasPackage: true,
  address: "10.0.0.1",
  port: 1,
};

/** Returns what doctor finds out about a host apart from what is as it should be. */
function complaints(facts: Partial<HostFacts>, said: Readonly<Record<string, readonly string[]>> = {}): string[] {
  const usual = { shell: ["works"], setup: ["done"], writable: ["/tmp"], free: ["9999999 /tmp"] };
  const time = [String(heardAt / 1000)];
  const all = new Map(Object.entries({ ...usual, time, ...said }));
  const known: HostFacts = { host: "n1", said: all, output: "", heardAt, node, socketError: null, ...facts };
  const driver = { platform: "linux-x64", folder: "/srv/shop", port: 26600 };
  return findingsOf(known, driver)
    .filter(({ level }) => level !== "ok")
    .map(({ check, level, text }) => `${check} ${level}: ${text}`);
}

test("a host without faults has no complaints", () => {
  expect(complaints({})).toEqual([]);
});

test("clocks may differ by some seconds; more is a note, and a day is a problem", () => {
  const clock = (seconds: number) => complaints({}, { time: [String(heardAt / 1000 + seconds)] });
  expect(clock(-4)).toEqual([]);
  expect(clock(3600)).toEqual([
    "clock note: its clock is 3600 s ahead of that of this machine: times in logs will differ",
  ]);
  expect(clock(-90_000)).toEqual([
    "clock problem: its clock is 90000 s behind that of this machine: certificates of jobs are not valid there",
  ]);
  expect(complaints({}, { time: ["%s"] })).toEqual(["clock note: it does not tell its time"]);
});

test("another platform of native code is a note", () => {
  expect(complaints({ node: { ...node, platform: "linux-arm64-musl" } })).toEqual([
    "platform note: it is linux-arm64-musl, and this machine is linux-x64: packages with native code do not fit both",
  ]);
});

test("a disk with little space is a note, and one that is almost full a problem", () => {
  const free = (kib: number) => complaints({}, { free: ["9999999 /home/ann", `${kib} /tmp`, " /unknown"] });
  expect(free(600 * 1024)).toEqual([]);
  expect(free(300 * 1024)).toEqual(["disk note: 300 MiB free in /tmp"]);
  expect(free(3 * 1024)).toEqual(["disk problem: 3 MiB free in /tmp"]);
});

test("a host that is silent, or whose address is not its own, is a problem", () => {
  expect(complaints({ said: new Map(), output: "Last login: today" })).toEqual([
    "connect problem: ssh did not end in time: Last login: today",
  ]);
  const addressError = "listen EADDRNOTAVAIL: address not available 10.0.0.1";
  const { port: _, ...elsewhere } = node;
  expect(complaints({ node: { ...elsewhere, addressError } })).toEqual([
    `peers problem: it cannot listen for other hosts: ${addressError}`,
  ]);
});
