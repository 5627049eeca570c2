/** Which link leads to a peer: dialled, through others, or come about otherwise; and what is remembered of those that ended. */
import { describe, expect, test } from "vitest";
import { DeliveryError } from "../../runtime/link/errors.js";
import { HEADER } from "../../runtime/link/frame.js";
import type { Link } from "../../runtime/link/link.js";
import type { Pipe } from "../../runtime/link/pipe.js";
import type { Relays } from "../../runtime/link/relay.js";
import { type Parent, Routes } from "../../runtime/link/route.js";
import { FakeHost, settled } from "./fake-host.js";

const own = 10n;
const peer = 11n;

interface Dialled {
  readonly location: string;
  readonly peer: bigint;
  readonly resolve: (pipe: Pipe) => void;
  readonly reject: (error: Error) => void;
}

/** A pipe that notes who has opened it. */
function pipeOf(opened: string[], name: string): Pipe {
  return { open: () => opened.push(name), write() {}, close() {}, destroy() {}, ref() {}, unref() {} };
}

function routing(parent?: Parent) {
  const host = new FakeHost(own);
  const dials: Dialled[] = [];
  const made: Link[] = [];
  const opened: string[] = [];
  const relayed: (readonly [Link, bigint])[] = [];
  const relays = {
    dial: (via: Link, to: bigint) => {
      relayed.push([via, to]);
      return pipeOf(opened, `relay to ${to}`);
    },
  } as unknown as Relays;
  const dial = (location: string, to: bigint) =>
    new Promise<Pipe>((resolve, reject) => dials.push({ location, peer: to, resolve, reject }));
  const routes = new Routes(host, dial, parent, relays, (link) => made.push(link));
  return { routes, host, dials, made, opened, relayed };
}

/** A link of which routes look at nothing but these. */
const linkOf = (more: Partial<Link> = {}): Link =>
  ({ peer, dialled: false, number: 0, introduced: true, ...more }) as unknown as Link;

/** What a link that was dialled here says of the last one that the peer has dialled. */
function overOf(link: Link): number {
  const hello = link.outbox.writer.copy(0);
  return new DataView(hello.buffer, hello.byteOffset).getUint32(HEADER + 28, true);
}

const gone = (text: string) => new DeliveryError("peer-down", text);

describe("a peer that has a location", () => {
  test("is dialled on first use, once; what is sent meanwhile waits in its link", async () => {
    const { routes, dials, made, opened } = routing();
    expect([routes.existing(peer), routes.all(), routes.allTo(peer)]).toEqual([undefined, [], []]);
    const link = routes.to(peer, "unix:/a", undefined);
    expect([routes.to(peer, "unix:/b", undefined) === link, routes.existing(peer) === link]).toEqual([true, true]);
    expect([made.length, made[0] === link, routes.all().length, routes.allTo(peer).length]).toEqual([1, true, 1, 1]);
    expect([link.peer, link.dialled, link.number, overOf(link)]).toEqual([peer, true, 1, 0]);
    expect(dials.map((dialled) => [dialled.location, dialled.peer])).toEqual([["unix:/a", peer]]);
    expect(routes.to(12n, "unix:/c", undefined).number).toBe(2);
    dials[0]!.resolve(pipeOf(opened, "dialled"));
    await settled(2);
    expect(opened).toEqual(["dialled"]);
  });

  test("is reached through its owner when it cannot be dialled", async () => {
    const { routes, dials, opened, relayed } = routing();
    const via = linkOf({ peer: 20n });
    routes.add(20n, via);
    routes.to(peer, "unix:/a", 20n);
    dials[0]!.reject(new Error("nobody listens there"));
    await settled(2);
    expect([relayed, opened]).toEqual([[[via, peer]], ["relay to 11"]]);
  });

  test("is unreachable when there is no other way, for the reason that is known", async () => {
    const why = gone("it was killed");
    for (const [failure, owner, expected] of [
      [new Error("nobody listens there"), undefined, "its process cannot be reached"],
      [new Error("nobody listens there"), 30n, "its process cannot be reached"],
      [new Error("nobody listens there"), 20n, "the owner has ended"],
      [why, 20n, "it was killed"],
    ] as const) {
      const { routes, dials, host } = routing();
      routes.markDown(20n, gone("the owner has ended"));
      const link = routes.to(peer, "unix:/a", owner);
      dials[0]!.reject(failure);
      await settled(2);
      expect(host.ends.map((error) => error?.message)).toEqual([expected]);
      expect(link.ended?.message).toBe(expected);
    }
  });
});

test("a proc reaches itself without anybody's help", async () => {
  const { routes, dials, host, relayed } = routing();
  const link = routes.to(own, "", undefined);
  await settled();
  expect([link.introduced, link.peer, host.opened[0] === link, dials, relayed]).toEqual([true, own, true, [], []]);
});

describe("a peer without a location", () => {
  test("is reached through its owner, or else through the parent", () => {
    const { routes, relayed, dials } = routing({ id: 40n, connects: false });
    const [owner, parent] = [linkOf({ peer: 20n }), linkOf({ peer: 40n })];
    routes.add(20n, owner);
    routes.add(40n, parent);
    routes.add(own, linkOf({ peer: own }));
    routes.to(11n, "", 20n);
    routes.to(12n, "", undefined);
    routes.to(13n, "", 30n);
    // Nobody is a way to itself, and this proc is none either.
    routes.to(14n, "", 14n);
    routes.to(15n, "", own);
    expect(relayed).toEqual([
      [owner, 11n],
      [parent, 12n],
      [parent, 13n],
      [parent, 14n],
      [parent, 15n],
    ]);
    expect(dials).toEqual([]);
  });

  test("is unreachable where nobody knows a way, which whoever asks is told later", async () => {
    for (const parent of [undefined, { id: peer, connects: false }, { id: own, connects: false }]) {
      const { routes, host } = routing(parent);
      const link = routes.to(peer, "", undefined);
      expect([link.ended, host.ends]).toEqual([undefined, []]);
      await settled(1);
      const [error] = host.ends;
      expect([link.ended !== undefined, host.ends.length]).toEqual([true, 1]);
      expect(error).toMatchObject({ reason: "unknown", message: "its process cannot be reached" });
    }
  });

  test("waits for a parent that has to connect first", () => {
    const { routes, relayed, dials } = routing({ id: 40n, connects: true });
    routes.to(peer, "", undefined);
    const parent = routes.existing(40n);
    expect([relayed, dials.map(({ location, peer }) => [location, peer])]).toEqual([[[parent, peer]], [["", 40n]]]);
    expect(routes.to(40n, "", undefined)).toBe(parent);
  });

  test("does not wait for a parent that has ended, or for itself", async () => {
    const { routes, relayed, host } = routing({ id: 40n, connects: true });
    routes.markDown(40n, gone("the parent has ended"));
    routes.to(peer, "", undefined);
    await settled(1);
    expect([relayed, host.ends.length]).toEqual([[], 1]);
    const other = routing({ id: 40n, connects: true });
    other.routes.to(40n, "", undefined);
    other.dials[0]!.reject(new Error("it never came"));
    await settled(2);
    expect([other.relayed, other.host.ends.length]).toEqual([[], 1]);
  });
});

describe("a peer that has ended", () => {
  test("is not dialled again, until a link to it shows that it is there", () => {
    const { routes } = routing();
    const why = gone("it was killed");
    expect([routes.isGone(peer), routes.down(peer)]).toEqual([false, undefined]);
    routes.markDown(peer, why);
    expect([routes.isGone(peer), routes.down(peer), routes.losing]).toEqual([true, why, false]);
    expect(() => routes.to(peer, "unix:/a", undefined)).toThrow(why);
    routes.add(peer, linkOf());
    expect([routes.isGone(peer), routes.down(peer)]).toEqual([false, undefined]);
  });

  test("is lost until it is known why", () => {
    const { routes } = routing();
    routes.markLost(peer);
    expect([routes.isGone(peer), routes.down(peer), routes.losing]).toEqual([true, undefined, true]);
    routes.markDown(peer, gone("it was killed"));
    expect([routes.isGone(peer), routes.losing]).toEqual([true, false]);
    routes.markLost(12n);
    routes.add(12n, linkOf({ peer: 12n }));
    expect([routes.isGone(12n), routes.losing]).toEqual([false, false]);
  });

  test("is forgotten when 65536 others have ended since", () => {
    const { routes } = routing();
    const why = gone("x");
    for (let i = 0n; i < 65_536n; i++) routes.markDown(100n + i, why);
    expect(routes.isGone(100n)).toBe(true);
    routes.markDown(99n, why);
    expect([routes.isGone(100n), routes.isGone(101n), routes.isGone(99n)]).toEqual([false, true, true]);
  });
});

describe("several links to a peer", () => {
  test("are used one after another, as the ones before end", () => {
    const { routes } = routing();
    const [one, two, three] = [linkOf(), linkOf(), linkOf()];
    for (const link of [one, two, two, one, three, three]) routes.add(peer, link);
    expect(routes.existing(peer)).toBe(one);
    expect(routes.allTo(peer)).toEqual([one, two, three]);
    expect([routes.remove(one), routes.existing(peer) === two]).toEqual([true, true]);
    expect(routes.allTo(peer)).toEqual([two, three]);
    expect([routes.remove(three), routes.allTo(peer).length]).toEqual([true, 1]);
    expect([routes.remove(two), routes.existing(peer), routes.allTo(peer)]).toEqual([false, undefined, []]);
    expect(routes.remove(linkOf({ peer: undefined }))).toBe(true);
  });

  test("lose a spare one without a change of the one that is used", () => {
    const { routes } = routing();
    const [one, two] = [linkOf(), linkOf()];
    routes.add(peer, one);
    routes.add(peer, two);
    expect([routes.remove(two), routes.existing(peer) === one, routes.allTo(peer).length]).toEqual([true, true, 1]);
    expect(routes.remove(two)).toBe(true);
  });

  test("are those of before for a peer that has dialled another one", () => {
    const { routes } = routing();
    const used = linkOf({ number: 1 });
    const dialledBefore = linkOf({ dialled: true, number: 2 });
    const dialledSince = linkOf({ dialled: true, number: 3 });
    const strange = linkOf({ number: 2, introduced: false });
    const other = linkOf({ number: 5 });
    const next = linkOf({ number: 5 });
    const all = [used, dialledBefore, dialledSince, strange, other, next];
    for (const link of all) routes.add(peer, link);
    expect(routes.replacedBy(next, 2)).toEqual([used, dialledBefore]);
    expect(routes.replacedBy(next, 0)).toEqual([used]);
    // Nothing is replaced by the one that is used, one that this side has dialled, or one that says nothing of it.
    expect(routes.replacedBy(used, 9)).toEqual([]);
    expect(routes.replacedBy(dialledSince, 9)).toEqual([]);
    expect(routes.replacedBy(linkOf(), 9)).toEqual([]);
  });
});

describe("a peer that is dialled anew", () => {
  test("is told which of its own links is over here: the last one", () => {
    const { routes } = routing();
    for (const number of [2, 3, 1]) {
      const link = linkOf({ number });
      routes.add(peer, link);
      routes.remove(link);
    }
    // Of those that were dialled here the peer knows by itself.
    routes.remove(linkOf({ dialled: true, number: 7 }));
    expect(overOf(routes.to(peer, "unix:/a", undefined))).toBe(3);
    expect(overOf(routes.to(12n, "unix:/a", undefined))).toBe(0);
  });

  test("is told so as long as the links of at most 65535 others have ended since", () => {
    const { routes } = routing();
    for (let i = 0n; i < 65_536n; i++) routes.remove(linkOf({ peer: 100n + i, number: 1 }));
    routes.remove(linkOf({ peer: 100n, number: 2 }));
    expect(overOf(routes.to(101n, "unix:/a", undefined))).toBe(1);
    routes.remove(linkOf({ peer: 99n, number: 1 }));
    expect(overOf(routes.to(100n, "unix:/a", undefined))).toBe(2);
    const before = routing().routes;
    for (let i = 0n; i <= 65_536n; i++) before.remove(linkOf({ peer: 100n + i, number: 1 }));
    expect([overOf(before.to(100n, "unix:/a", undefined)), overOf(before.to(101n, "unix:/a", undefined))]).toEqual([
      0, 1,
    ]);
  });
});
