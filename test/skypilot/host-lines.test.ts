/** Tests of the lines of hosts in the log of a cluster, and of the places of machines. */
import { expect, test } from "vitest";
import { formatAnnouncement, formatHostLine, readHostLine } from "../../runtime/job/skypilot/machine/host-lines.js";
import { placeOfMachine } from "../../runtime/job/skypilot/machine/machine-order.js";

const announcement = {
  applyId: "3f2a9c01",
  mesh: "trainers",
  rank: 3,
  boot: "0123456789abcdef0123456789abcdef",
  incarnation: 1_800_000_000_000,
  ip: "10.0.0.7",
  port: 20_000,
};

test.each(["", "(head, rank=0, pid=685) ", "(worker1, rank=1, pid=490, ip=10.244.2.6) ", "(train, pid=12) "])(
  "a host announces itself behind %j",
  (prefix) => {
    expect(readHostLine(prefix + formatAnnouncement(announcement))).toEqual({ announcement });
  },
);

test("a line of a host keeps its words, also those of an announcement", () => {
  const place = { mesh: "trainers", rank: 3 };
  const line = formatAnnouncement(announcement);
  expect(readHostLine(`(head, rank=0, pid=685) ${formatHostLine(place, line)}`)).toEqual({ place, line });
  expect(readHostLine(formatHostLine(place, "(a, pid=1) b"))).toEqual({ place, line: "(a, pid=1) b" });
});

test("other lines stay as they are", () => {
  const text = "(setup pid=12) installing";
  expect(readHostLine(text)).toEqual({ other: text });
});

test.each([
  { ip: "evil.example" },
  { ip: "10.0.0.7 " },
  { port: 65_535 },
  { port: -1 },
  { port: "20000" },
  { boot: "../../etc/passwd" },
  { rank: 1.5 },
  { rank: -1 },
  { incarnation: 2 ** 60 },
  { mesh: undefined },
  { applyId: 7 },
])("an announcement with %j is none", (change) => {
  const text = `viceroy-host ${JSON.stringify({ ...announcement, ...change })}`;
  expect(readHostLine(text)).toEqual({ other: text });
});

test("an announcement that is cut is none", () => {
  const text = formatAnnouncement(announcement).slice(0, -1);
  expect(readHostLine(text)).toEqual({ other: text });
});

const places = [0, 1, 2].map((rank) => ({ mesh: "a", rank }));

test("machines without hosts take the places in their order", () => {
  const addresses = ["10.0.0.1", "10.0.0.2", "10.0.0.3"];
  const ranks = addresses.map((_, own) => placeOfMachine({ places, held: {} }, addresses, own).rank);
  expect(ranks).toEqual([0, 1, 2]);
});

test("hosts that run keep their places when machines have other numbers, and new machines take the free ones", () => {
  const held = { "10.0.0.1": 0, "10.0.0.3": 2 };
  const addresses = ["10.0.0.9", "10.0.0.3", "10.0.0.1"];
  const ranks = addresses.map((_, own) => placeOfMachine({ places, held }, addresses, own).rank);
  expect(ranks).toEqual([1, 2, 0]);
});

test("a place is free again if its machine has gone, though the driver took its host for one that runs", () => {
  const held = { "10.0.0.1": 0, "10.0.0.8": 1 };
  const addresses = ["10.0.0.1", "10.0.0.5", "10.0.0.6"];
  const ranks = addresses.map((_, own) => placeOfMachine({ places, held }, addresses, own).rank);
  expect(ranks).toEqual([0, 1, 2]);
});

test("a machine without a host or an address is refused", () => {
  const addresses = ["10.0.0.1", "10.0.0.2"];
  expect(() => placeOfMachine({ places: places.slice(0, 1), held: {} }, addresses, 1)).toThrow(
    "there is no host for machine 1: the job has 1 on it",
  );
  expect(() => placeOfMachine({ places, held: {} }, addresses, 2)).toThrow("SkyPilot gives no address of machine 2");
});
