/** Tests that a relay which dies ends a connection and not the link, because the ends of the link are its two processes. */
import { expect, test } from "vitest";
import { systemClock, systemRandom } from "../../../runtime/link/clock.js";
import type { RelayFrame } from "../../../runtime/link/frame/relay-frame.js";
import { Link } from "../../../runtime/link/link.js";
import { ResumableAcceptor } from "../../../runtime/link/resumable/accept.js";
import { dialResumable } from "../../../runtime/link/resumable/dial.js";
import type { Pipe } from "../../../runtime/link/transport/pipe.js";
import { RelayRouter } from "../../../runtime/link/transport/relay/pipe.js";
import { until } from "../../proc/until.js";
import { FakeHost } from "../fake-host.js";
import { pipePair } from "../pipe-pair.js";
import { ByteRecorder } from "../transport/byte-recorder.js";

const machine = { clock: systemClock, random: systemRandom };

/** A proc that relays the connections of others, and accepts its own. */
class Passing extends FakeHost {
  readonly relays: RelayRouter;
  readonly links = new Map<bigint, Link>();
  passed = 0;
  /** The number of relayed bytes after which it ends its links. */
  lifetime = Number.POSITIVE_INFINITY;

  constructor(id: bigint, accept: (pipe: Pipe) => void = (pipe) => pipe.destroy()) {
    super(id);
    this.relays = new RelayRouter({ id, linkTo: (peer) => this.links.get(peer), routeTo: () => undefined, accept });
  }

  override relayFrameReceived(link: Link, frame: RelayFrame): void {
    this.passed += frame.bytes.length;
    this.relays.frameReceived(link, frame);
    if (this.passed > this.lifetime) for (const end of [...this.links.values()]) end.destroy();
  }

  override linkClosed(link: Link, error: Error | undefined): void {
    this.links.delete(link.peer!);
    this.relays.linkEnded(link, error ?? new Error("closed"));
    super.linkClosed(link, error);
  }
}

function connect(a: Passing, b: Passing): void {
  const [near, far] = pipePair();
  for (const [host, peer, pipe] of [
    [a, b.id, near],
    [b, a.id, far],
  ] as const) {
    const link = new Link(host, peer);
    host.links.set(peer, link);
    link.attach(pipe);
  }
}

test("a relay that ends in the middle of a message is replaced by another relay, and no bytes are lost", async () => {
  const accepted: Pipe[] = [];
  const admit = () => ({ kind: "open" as const, open: (pipe: Pipe) => void accepted.push(pipe) });
  const acceptor = new ResumableAcceptor({ ...machine, resumable: { resendBytes: 200_000 }, admit });
  const near = new Passing(10n);
  const far = new Passing(11n, (pipe) => acceptor.accept(pipe));
  const between = [new Passing(20n), new Passing(21n), new Passing(22n)];
  for (const relay of between) {
    connect(near, relay);
    connect(relay, far);
  }
  const dialled = await dialResumable({
    ...machine,
    universe: 1n,
    from: near.id,
    to: far.id,
    direct: false,
    peer: "far",
    limits: { resendBytes: 200_000, redialMs: 1 },
    connect: async () => {
      const [via] = near.links.values();
      if (via === undefined) throw new Error("no way");
      return near.relays.dial(via, far.id);
    },
  });
  await until(() => accepted.length > 0);
  const [here, there] = [new ByteRecorder(dialled), new ByteRecorder(accepted[0]!)];
  const large = Buffer.alloc(3_000_000).map((_, i) => i * 7 + (i >> 9));
  for (const relay of between.slice(0, 2)) relay.lifetime = 800_000;
  dialled.write([large], () => {});
  accepted[0]!.write([large.subarray(0, 1_000_000)], () => {});
  await Promise.all([there.bytes(large.length), here.bytes(1_000_000)]);
  expect(there.all.equals(large)).toBe(true);
  expect(here.all.equals(large.subarray(0, 1_000_000))).toBe(true);
  expect(between.every(({ passed }) => passed > 800_000)).toBe(true);
  expect(accepted.length).toBe(1);
  dialled.close();
  await there.end;
  expect(acceptor.linkCount).toBe(0);
});
