/** Tests of the link to a peer, which is dialled, relayed or accepted, and of the memory of ended links. */
import { describe, expect, test } from "vitest";
import { DeliveryError } from "../../runtime/link/errors.js";
import { HEADER_BYTES } from "../../runtime/link/frame/frame.js";
import type { Link } from "../../runtime/link/link.js";
import { type ParentProc, RoutingTable } from "../../runtime/link/routing-table.js";
import type { Pipe } from "../../runtime/link/transport/pipe.js";
import type { RelayRouter } from "../../runtime/link/transport/relay/pipe.js";
import { FakeHost, settled } from "./fake-host.js";

const own = 10n;
const peer = 11n;

interface Dialled {
  readonly location: string;
  readonly peer: bigint;
  readonly resolve: (pipe: Pipe) => void;
  readonly reject: (error: Error) => void;
}

/** A pipe that records its sink. */
function pipeOf(opened: string[], name: string): Pipe {
  return { open: () => opened.push(name), write() {}, close() {}, destroy() {}, ref() {}, unref() {} };
}

function routing(parent?: ParentProc, locate: (peer: bigint) => string = () => "") {
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
  } as unknown as RelayRouter;
  const dial = (location: string, to: bigint) =>
    new Promise<Pipe>((resolve, reject) => dials.push({ location, peer: to, resolve, reject }));
  const routes = new RoutingTable(host, dial, parent, relays, locate, (link) => made.push(link));
  return { routes, host, dials, made, opened, relayed };
}

/** A link with the only properties that routing tables use. */
const linkOf = (more: Partial<Link> = {}): Link =>
  ({ peer, isDialler: false, dialNumber: 0, isIntroduced: true, ...more }) as unknown as Link;

/** Returns the number, in a link's `hello`, of the last link that the peer has dialled and that has ended on this side. */
function overOf(link: Link): number {
  const hello = link.outbox.writer.copy(0);
  return new DataView(hello.buffer, hello.byteOffset).getUint32(HEADER_BYTES + 28, true);
}

const gone = (text: string) => new DeliveryError("peer-down", text);

describe("a peer that has a location", () => {
  test("is dialled once, on first use; all callers share the link, which opens when the dial succeeds", async () => {
    const { routes, dials, made, opened } = routing();
    expect([routes.existingLink(peer), routes.allLinks(), routes.linksTo(peer)]).toEqual([undefined, [], []]);
    const link = routes.linkTo(peer, "unix:/a", undefined);
    expect([routes.linkTo(peer, "unix:/b", undefined) === link, routes.existingLink(peer) === link]).toEqual([
      true,
      true,
    ]);
    expect([made.length, made[0] === link, routes.allLinks().length, routes.linksTo(peer).length]).toEqual([
      1,
      true,
      1,
      1,
    ]);
    expect([link.peer, link.isDialler, link.dialNumber, overOf(link)]).toEqual([peer, true, 1, 0]);
    expect(dials.map((dialled) => [dialled.location, dialled.peer])).toEqual([["unix:/a", peer]]);
    expect(routes.linkTo(12n, "unix:/c", undefined).dialNumber).toBe(2);
    dials[0]!.resolve(pipeOf(opened, "dialled"));
    await settled(2);
    expect(opened).toEqual(["dialled"]);
  });

  test("is reached through its owner when it cannot be dialled", async () => {
    const { routes, dials, opened, relayed } = routing();
    const via = linkOf({ peer: 20n });
    routes.addLink(20n, via);
    routes.linkTo(peer, "unix:/a", 20n);
    dials[0]!.reject(new Error("nobody listens there"));
    await settled(2);
    expect([relayed, opened]).toEqual([[[via, peer]], ["relay to 11"]]);
  });

  test("is unreachable if no route is left, and the error gives the known reason", async () => {
    const why = gone("it was killed");
    for (const [failure, owner, expected] of [
      [new Error("nobody listens there"), undefined, "its process cannot be reached"],
      [new Error("nobody listens there"), 30n, "its process cannot be reached"],
      [new Error("nobody listens there"), 20n, "the owner has ended"],
      [why, 20n, "it was killed"],
    ] as const) {
      const { routes, dials, host } = routing();
      routes.markDead(20n, gone("the owner has ended"));
      const link = routes.linkTo(peer, "unix:/a", owner);
      dials[0]!.reject(failure);
      await settled(2);
      expect(host.ends.map((error) => error?.message)).toEqual([expected]);
      expect(link.ended?.message).toBe(expected);
    }
  });
});

test("a proc reaches itself without dialling and without relays", async () => {
  const { routes, dials, host, relayed } = routing();
  const link = routes.linkTo(own, "", undefined);
  await settled();
  expect([link.isIntroduced, link.peer, host.opened[0] === link, dials, relayed]).toEqual([true, own, true, [], []]);
});

describe("a peer without a location", () => {
  test("is reached through its owner, or otherwise through the parent", () => {
    const { routes, relayed, dials } = routing({ id: 40n, connects: false });
    const [owner, parent] = [linkOf({ peer: 20n }), linkOf({ peer: 40n })];
    routes.addLink(20n, owner);
    routes.addLink(40n, parent);
    routes.addLink(own, linkOf({ peer: own }));
    routes.linkTo(11n, "", 20n);
    routes.linkTo(12n, "", undefined);
    routes.linkTo(13n, "", 30n);
    // A peer is not reached through itself, nor through this proc.
    routes.linkTo(14n, "", 14n);
    routes.linkTo(15n, "", own);
    expect(relayed).toEqual([
      [owner, 11n],
      [parent, 12n],
      [parent, 13n],
      [parent, 14n],
      [parent, 15n],
    ]);
    expect(dials).toEqual([]);
  });

  test("is unreachable if no other proc can relay, and its link ends in a later turn", async () => {
    for (const parent of [undefined, { id: peer, connects: false }, { id: own, connects: false }]) {
      const { routes, host } = routing(parent);
      const link = routes.linkTo(peer, "", undefined);
      expect([link.ended, host.ends]).toEqual([undefined, []]);
      await settled(1);
      const [error] = host.ends;
      expect([link.ended !== undefined, host.ends.length]).toEqual([true, 1]);
      expect(error).toMatchObject({ reason: "unknown", message: "its process cannot be reached" });
    }
  });

  test("waits for a parent that has to connect first", () => {
    const { routes, relayed, dials } = routing({ id: 40n, connects: true });
    routes.linkTo(peer, "", undefined);
    const parent = routes.existingLink(40n);
    expect([relayed, dials.map(({ location, peer }) => [location, peer])]).toEqual([[[parent, peer]], [["", 40n]]]);
    expect(routes.linkTo(40n, "", undefined)).toBe(parent);
  });

  test("does not wait for a parent that has ended, or for itself", async () => {
    const { routes, relayed, host } = routing({ id: 40n, connects: true });
    routes.markDead(40n, gone("the parent has ended"));
    routes.linkTo(peer, "", undefined);
    await settled(1);
    expect([relayed, host.ends.length]).toEqual([[], 1]);
    const other = routing({ id: 40n, connects: true });
    other.routes.linkTo(40n, "", undefined);
    other.dials[0]!.reject(new Error("it never came"));
    await settled(2);
    expect([other.relayed, other.host.ends.length]).toEqual([[], 1]);
  });
});

describe("a peer that has ended", () => {
  test("is not dialled again until a new link shows that the peer is alive", () => {
    const { routes } = routing();
    const why = gone("it was killed");
    expect([routes.isUnreachable(peer), routes.deathOf(peer)]).toEqual([false, undefined]);
    routes.markDead(peer, why);
    expect([routes.isUnreachable(peer), routes.deathOf(peer), routes.hasLostPeers]).toEqual([true, why, false]);
    expect(() => routes.linkTo(peer, "unix:/a", undefined)).toThrow(why);
    routes.addLink(peer, linkOf());
    expect([routes.isUnreachable(peer), routes.deathOf(peer)]).toEqual([false, undefined]);
  });

  test("counts as lost until the reason of its end is known or a new link appears", () => {
    const { routes } = routing();
    routes.markLost(peer);
    expect([routes.isUnreachable(peer), routes.deathOf(peer), routes.hasLostPeers]).toEqual([true, undefined, true]);
    routes.markDead(peer, gone("it was killed"));
    expect([routes.isUnreachable(peer), routes.hasLostPeers]).toEqual([true, false]);
    routes.markLost(12n);
    routes.addLink(12n, linkOf({ peer: 12n }));
    expect([routes.isUnreachable(12n), routes.hasLostPeers]).toEqual([false, false]);
  });

  test("that is lost ends new links when the reason of its end is known, and with that reason", async () => {
    const { routes, host } = routing();
    routes.markLost(peer);
    const link = routes.linkTo(peer, "", undefined);
    await settled(2);
    expect([link.ended, host.ends]).toEqual([undefined, []]);
    routes.markLost(peer);
    routes.markDead(peer, gone("it was killed"));
    await settled(2);
    expect(host.ends.map((error) => error?.message)).toEqual(["it was killed"]);
    routes.markLost(12n);
    const other = routes.linkTo(12n, "", undefined);
    routes.addLink(12n, linkOf({ peer: 12n }));
    await settled(2);
    expect(other.ended?.message).toBe("its process cannot be reached");
  });

  test("is forgotten when 65536 other peers have ended after it", () => {
    const { routes } = routing();
    const why = gone("x");
    for (let i = 0n; i < 65_536n; i++) routes.markDead(100n + i, why);
    expect(routes.isUnreachable(100n)).toBe(true);
    routes.markDead(99n, why);
    expect([routes.isUnreachable(100n), routes.isUnreachable(101n), routes.isUnreachable(99n)]).toEqual([
      false,
      true,
      true,
    ]);
  });
});

describe("several links to a peer", () => {
  test("are used in the order in which they were added, each when the earlier links have ended", () => {
    const { routes } = routing();
    const [one, two, three] = [linkOf(), linkOf(), linkOf()];
    for (const link of [one, two, two, one, three, three]) routes.addLink(peer, link);
    expect(routes.existingLink(peer)).toBe(one);
    expect(routes.linksTo(peer)).toEqual([one, two, three]);
    expect([routes.removeLink(one), routes.existingLink(peer) === two]).toEqual([true, true]);
    expect(routes.linksTo(peer)).toEqual([two, three]);
    expect([routes.removeLink(three), routes.linksTo(peer).length]).toEqual([true, 1]);
    expect([routes.removeLink(two), routes.existingLink(peer), routes.linksTo(peer)]).toEqual([false, undefined, []]);
    expect(routes.removeLink(linkOf({ peer: undefined }))).toBe(true);
  });

  test("keep the link in use when a spare link is removed", () => {
    const { routes } = routing();
    const [one, two] = [linkOf(), linkOf()];
    routes.addLink(peer, one);
    routes.addLink(peer, two);
    expect([routes.removeLink(two), routes.existingLink(peer) === one, routes.linksTo(peer).length]).toEqual([
      true,
      true,
      1,
    ]);
    expect(routes.removeLink(two)).toBe(true);
  });

  test("are replaced by a newly dialled link if they have ended on the peer's side", () => {
    const { routes } = routing();
    const used = linkOf({ dialNumber: 1 });
    const dialledBefore = linkOf({ isDialler: true, dialNumber: 2 });
    const dialledSince = linkOf({ isDialler: true, dialNumber: 3 });
    const strange = linkOf({ dialNumber: 2, isIntroduced: false });
    const other = linkOf({ dialNumber: 5 });
    const next = linkOf({ dialNumber: 5 });
    const all = [used, dialledBefore, dialledSince, strange, other, next];
    for (const link of all) routes.addLink(peer, link);
    expect(routes.linksReplacedBy(next, 2)).toEqual([used, dialledBefore]);
    expect(routes.linksReplacedBy(next, 0)).toEqual([used]);
    // No link is replaced by the link that is used, by a link that this side has dialled, or by one without a number.
    expect(routes.linksReplacedBy(used, 9)).toEqual([]);
    expect(routes.linksReplacedBy(dialledSince, 9)).toEqual([]);
    expect(routes.linksReplacedBy(linkOf(), 9)).toEqual([]);
  });
});

describe("a peer that is dialled anew", () => {
  test("learns from `hello` the highest number of its own links that have ended on this side", () => {
    const { routes } = routing();
    for (const dialNumber of [2, 3, 1]) {
      const link = linkOf({ dialNumber });
      routes.addLink(peer, link);
      routes.removeLink(link);
    }
    // The peer knows by itself which links of this side have ended.
    routes.removeLink(linkOf({ isDialler: true, dialNumber: 7 }));
    expect(overOf(routes.linkTo(peer, "unix:/a", undefined))).toBe(3);
    expect(overOf(routes.linkTo(12n, "unix:/a", undefined))).toBe(0);
  });

  test("learns that number only if links of fewer than 65536 other peers have ended since", () => {
    const { routes } = routing();
    for (let i = 0n; i < 65_536n; i++) routes.removeLink(linkOf({ peer: 100n + i, dialNumber: 1 }));
    routes.removeLink(linkOf({ peer: 100n, dialNumber: 2 }));
    expect(overOf(routes.linkTo(101n, "unix:/a", undefined))).toBe(1);
    routes.removeLink(linkOf({ peer: 99n, dialNumber: 1 }));
    expect(overOf(routes.linkTo(100n, "unix:/a", undefined))).toBe(2);
    const before = routing().routes;
    for (let i = 0n; i <= 65_536n; i++) before.removeLink(linkOf({ peer: 100n + i, dialNumber: 1 }));
    expect([
      overOf(before.linkTo(100n, "unix:/a", undefined)),
      overOf(before.linkTo(101n, "unix:/a", undefined)),
    ]).toEqual([0, 1]);
  });
});

describe("the route for frames that a proc relays to a peer without a link", () => {
  const parent = { id: 40n, connects: false };

  test("is the link to its parent, unless the frames come from there", () => {
    const { routes, made } = routing(parent, (to) => `unix:/run/${to}`);
    expect(routes.relayRoute(peer, 20n)).toBe(undefined);
    const up = linkOf({ peer: 40n });
    routes.addLink(40n, up);
    expect(routes.relayRoute(peer, 20n) === up).toBe(true);
    expect(routes.relayRoute(peer, undefined) === up).toBe(true);
    expect([routes.relayRoute(peer, 40n), made]).toEqual([undefined, []]);
  });

  test("waits for a parent that has to connect first", () => {
    const { routes, dials } = routing({ id: 40n, connects: true });
    expect(routes.relayRoute(peer, 20n)?.peer).toBe(40n);
    expect(dials.map((dialled) => dialled.peer)).toEqual([40n]);
  });

  test("is a link that the proc without a parent dials on its machine", () => {
    const { routes, dials } = routing(undefined, (to) => `unix:/run/${to}`);
    const link = routes.relayRoute(peer, 20n);
    expect([link?.isDialler, routes.existingLink(peer) === link]).toEqual([true, true]);
    expect(dials.map((dialled) => [dialled.location, dialled.peer])).toEqual([["unix:/run/11", peer]]);
    expect(routing().routes.relayRoute(peer, 20n)).toBe(undefined);
  });

  test("is none if the peer is known to have ended", () => {
    const { routes, dials } = routing(undefined, (to) => `unix:/run/${to}`);
    routes.markDead(peer, gone("it was killed"));
    expect([routes.relayRoute(peer, 20n), dials]).toEqual([undefined, []]);
  });
});
