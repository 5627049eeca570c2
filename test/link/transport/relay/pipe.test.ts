/** Tests of pipes through a third proc, frame by frame: the frames of the two ends, and the relay's behaviour. */
import { describe, expect, test } from "vitest";
import type { RelayFrame } from "../../../../runtime/link/frame/relay-frame.js";
import type { Link } from "../../../../runtime/link/link.js";
import type { Pipe } from "../../../../runtime/link/transport/pipe.js";
import { RelayRouter } from "../../../../runtime/link/transport/relay/pipe.js";
import { RecordingSink } from "../recording-sink.js";

const [own, peer, stranger] = [10n, 11n, 12n];
/** The operations of a relay frame. The lowest bit is set in frames of the acceptor. */
const [data, close, reset, acceptor] = [0, 2, 4, 1];

type Said = readonly [to: bigint, from: bigint, channel: number, op: number, text: string];

class HandLink {
  peer: bigint | undefined;
  readonly frames: Said[] = [];

  sendRelay({ to, from, channel, op, bytes }: RelayFrame): void {
    this.frames.push([to, from, channel, op, Buffer.from(bytes).toString("latin1")]);
  }

  news(): Said[] {
    return this.frames.splice(0);
  }

  get link(): Link {
    return this as unknown as Link;
  }
}

function world(routes: (proc: bigint, from: bigint | undefined) => HandLink | undefined = () => undefined) {
  const links = new Map<bigint, HandLink>();
  const accepted: { readonly pipe: Pipe; readonly from: bigint }[] = [];
  const relays = new RelayRouter({
    id: own,
    linkTo: (proc) => links.get(proc)?.link,
    routeTo: (proc, from) => routes(proc, from)?.link,
    accept: (pipe, from) => accepted.push({ pipe, from }),
  });
  const linkTo = (proc: bigint): HandLink => {
    const link = new HandLink();
    links.set(proc, link);
    return link;
  };
  const receive = (over: HandLink, [to, from, channel, op, text]: Said): void => {
    const bytes = Buffer.from(text, "latin1");
    relays.frameReceived(over.link, { to, from, channel, op, bytes });
    // The bytes belong to the frame and are valid only while it is handled.
    bytes.fill(0xee);
  };
  return { relays, accepted, linkTo, links, receive };
}

const microtask = () => Promise.resolve();

describe("the dialling end of a relayed pipe", () => {
  function dialled() {
    const made = world();
    const via = made.linkTo(20n);
    const pipe = made.relays.dial(via.link, peer);
    const notes = new RecordingSink();
    return { ...made, via, pipe, notes };
  }

  test("has its own channel and sends its bytes to the peer in frames of at most 32 KiB", async () => {
    const { relays, via, pipe } = dialled();
    let done = 0;
    pipe.write([Buffer.alloc(32 * 1024, "a"), Buffer.alloc(0), Buffer.alloc(32 * 1024 + 1, "b")], () => done++);
    expect(via.news().map(([to, from, channel, op, text]) => [to, from, channel, op, text.length])).toEqual([
      [peer, own, 1, data, 32 * 1024],
      [peer, own, 1, data, 32 * 1024],
      [peer, own, 1, data, 1],
    ]);
    expect(done).toBe(0);
    await microtask();
    expect(done).toBe(1);
    relays.dial(via.link, peer).write([Buffer.from("x")], () => {});
    expect(via.news()).toEqual([[peer, own, 2, data, "x"]]);
  });

  test("receives the bytes of its own channel only, also those that arrive before it is opened", () => {
    const { receive, via, pipe, notes } = dialled();
    receive(via, [own, peer, 1, data | acceptor, "early, "]);
    pipe.open(notes);
    receive(via, [own, peer, 1, data | acceptor, "and much longer than its memory"]);
    expect(notes.text).toBe("early, and much longer than its memory");
    // Frames of other channels, other peers and the other side of the channel belong to other pipes.
    receive(via, [own, peer, 2, data | acceptor, "x"]);
    receive(via, [own, stranger, 1, data | acceptor, "x"]);
    expect(notes.text.length).toBe(38);
  });

  test.each([
    ["closes", close, "in order"],
    ["resets", reset, "the process that relays to it has no connection to it; it has ended, or its host is cut off"],
  ])("ends once when the acceptor %s it, and neither sends nor receives afterwards", async (_, op, how) => {
    const { relays, receive, via, pipe, notes } = dialled();
    pipe.open(notes);
    receive(via, [own, peer, 1, op | acceptor, ""]);
    receive(via, [own, peer, 1, reset | acceptor, ""]);
    expect(notes.ends).toEqual([]);
    await microtask();
    relays.linkEnded(via.link, new Error("the link is gone"));
    await microtask();
    expect(notes.ends).toEqual([how]);
    let done = 0;
    pipe.write([Buffer.from("late")], () => done++);
    pipe.close();
    pipe.destroy();
    receive(via, [own, peer, 1, data | acceptor, "late"]);
    await microtask();
    expect([via.news(), done, notes.text, notes.ends]).toEqual([[], 1, "", [how]]);
  });

  test.each([
    ["close", close, "in order"],
    ["destroy", reset, "enough"],
  ] as const)("sends the acceptor exactly one frame about its end after a call of %s", async (how, op, end) => {
    const { via, pipe, notes } = dialled();
    pipe.open(notes);
    if (how === "close") pipe.close();
    else pipe.destroy(new Error("enough"));
    pipe.close();
    pipe.destroy(new Error("again"));
    await microtask();
    expect([via.news(), notes.ends]).toEqual([[[peer, own, 1, op, ""]], [end]]);
  });

  test("delivers no more bytes after its reader closes it, not even the rest of the same frame", () => {
    const { receive, via, pipe, notes } = dialled();
    notes.onBytes = () => pipe.close();
    pipe.open(notes);
    receive(via, [own, peer, 1, data | acceptor, "more than its memory takes"]);
    expect(notes.text).toBe("more tha");
  });

  test("can be destroyed before it is opened, and sends one reset to the acceptor", async () => {
    const { relays, via, pipe } = dialled();
    pipe.destroy(new Error("enough"));
    relays.linkEnded(via.link, new Error("gone"));
    await microtask();
    expect(via.news()).toEqual([[peer, own, 1, reset, ""]]);
  });

  test("ends once with the error of its link, and a pipe over another link stays open", async () => {
    const { relays, via, pipe, notes, linkTo } = dialled();
    pipe.open(notes);
    const other = relays.dial(linkTo(21n).link, peer);
    const otherNotes = new RecordingSink();
    other.open(otherNotes);
    relays.linkEnded(via.link, new Error("the link is gone"));
    relays.linkEnded(via.link, new Error("again"));
    await microtask();
    expect([notes.ends, otherNotes.ends]).toEqual([["the link is gone"], []]);
  });
});

describe("the accepting end of a relayed pipe", () => {
  test("is created by the first bytes of the dialler and sends its frames as the acceptor", () => {
    const { accepted, receive, linkTo } = world();
    const via = linkTo(20n);
    receive(via, [own, peer, 7, data, "hello"]);
    receive(via, [own, peer, 7, data, ", again"]);
    expect(accepted.map(({ from }) => from)).toEqual([peer]);
    const notes = new RecordingSink();
    const { pipe } = accepted[0]!;
    pipe.open(notes);
    pipe.write([Buffer.from("hi")], () => {});
    pipe.close();
    expect([notes.text, via.news()]).toEqual([
      "hello, again",
      [
        [peer, own, 7, data | acceptor, "hi"],
        [peer, own, 7, close | acceptor, ""],
      ],
    ]);
  });

  test("is not created by a frame that ends a pipe or by a frame of an acceptor", () => {
    const { accepted, receive, linkTo } = world();
    const via = linkTo(20n);
    for (const op of [close, reset, data | acceptor, close | acceptor, reset | acceptor]) {
      receive(via, [own, peer, 7, op, "x"]);
    }
    expect([accepted, via.news()]).toEqual([[], []]);
  });
});

describe("the relaying proc", () => {
  /** Opens a pipe from `peer` to `stranger` through this proc. */
  function passing() {
    const made = world();
    const [toDialler, toAcceptor] = [made.linkTo(peer), made.linkTo(stranger)];
    made.receive(toDialler, [stranger, peer, 7, data, "hello"]);
    made.receive(toAcceptor, [peer, stranger, 7, data | acceptor, "hi"]);
    expect([toAcceptor.news(), toDialler.news()]).toEqual([
      [[stranger, peer, 7, data, "hello"]],
      [[peer, stranger, 7, data | acceptor, "hi"]],
    ]);
    return { ...made, toDialler, toAcceptor };
  }
  const gone = new Error("gone");

  test("answers a frame that it cannot pass on with a reset, unless the frame is a reset itself", () => {
    const { receive, linkTo } = world();
    const over = linkTo(peer);
    receive(over, [stranger, peer, 7, data, "x"]);
    receive(over, [stranger, peer, 8, close | acceptor, ""]);
    receive(over, [stranger, peer, 9, reset, ""]);
    receive(over, [stranger, peer, 9, reset | acceptor, ""]);
    // The frame would go back on the link on which it came.
    receive(over, [peer, stranger, 5, data, "x"]);
    expect(over.news()).toEqual([
      [peer, stranger, 7, reset | acceptor, ""],
      [peer, stranger, 8, reset, ""],
      [stranger, peer, 5, reset | acceptor, ""],
    ]);
  });

  test("sends one reset to the other end of a pipe when the link to one end is lost", () => {
    const first = passing();
    first.relays.linkEnded(first.toDialler.link, gone);
    first.relays.linkEnded(first.toDialler.link, gone);
    first.relays.linkEnded(first.toAcceptor.link, gone);
    expect([first.toDialler.news(), first.toAcceptor.news()]).toEqual([[], [[stranger, peer, 7, reset, ""]]]);
    const second = passing();
    second.relays.linkEnded(second.toAcceptor.link, gone);
    second.relays.linkEnded(second.toDialler.link, gone);
    expect([second.toDialler.news(), second.toAcceptor.news()]).toEqual([
      [[peer, stranger, 7, reset | acceptor, ""]],
      [],
    ]);
  });

  test.each([close, reset, close | acceptor, reset | acceptor])("forgets a pipe that one side has ended: %i", (op) => {
    const { relays, receive, toDialler, toAcceptor } = passing();
    const byAcceptor = (op & acceptor) !== 0;
    if (byAcceptor) receive(toAcceptor, [peer, stranger, 7, op, ""]);
    else receive(toDialler, [stranger, peer, 7, op, ""]);
    expect((byAcceptor ? toDialler : toAcceptor).news().length).toBe(1);
    relays.linkEnded(toDialler.link, gone);
    relays.linkEnded(toAcceptor.link, gone);
    expect([toDialler.news(), toAcceptor.news()]).toEqual([[], []]);
  });

  test("distinguishes pipes by their two ends and their channel", () => {
    const { relays, receive, toDialler, toAcceptor, linkTo } = passing();
    const third = linkTo(30n);
    receive(toDialler, [stranger, peer, 8, data, "x"]);
    receive(third, [stranger, 30n, 7, data, "x"]);
    receive(toDialler, [30n, peer, 7, data, "x"]);
    for (const link of [toDialler, toAcceptor, third]) link.news();
    receive(toDialler, [stranger, peer, 8, close, ""]);
    toAcceptor.news();
    relays.linkEnded(toDialler.link, gone);
    expect([toAcceptor.news(), third.news()]).toEqual([[[stranger, peer, 7, reset, ""]], [[30n, peer, 7, reset, ""]]]);
    relays.linkEnded(toAcceptor.link, gone);
    expect([third.news(), toDialler.news()]).toEqual([[[30n, stranger, 7, reset | acceptor, ""]], []]);
  });

  test("keeps the frames of a pipe on its links, also when there is a newer link to the same proc", () => {
    const { relays, receive, toDialler, toAcceptor, linkTo } = passing();
    const newAcceptor = linkTo(stranger);
    const newDialler = linkTo(peer);
    receive(toDialler, [stranger, peer, 7, data, "more"]);
    receive(toAcceptor, [peer, stranger, 7, data | acceptor, "back"]);
    expect([toAcceptor.news(), toDialler.news()]).toEqual([
      [[stranger, peer, 7, data, "more"]],
      [[peer, stranger, 7, data | acceptor, "back"]],
    ]);
    // Other pipes use the newer links, and do not end with the older ones.
    receive(newDialler, [stranger, peer, 8, data, "x"]);
    relays.linkEnded(toAcceptor.link, gone);
    expect([toDialler.news(), newAcceptor.news(), newDialler.news()]).toEqual([
      [[peer, stranger, 7, reset | acceptor, ""]],
      [[stranger, peer, 8, data, "x"]],
      [],
    ]);
    relays.linkEnded(newAcceptor.link, gone);
    expect(newDialler.news()).toEqual([[peer, stranger, 8, reset | acceptor, ""]]);
  });

  test("opens a pipe over its route to a proc without a link, and passes answers back to where the pipe came from", () => {
    const up = new HandLink();
    const asked: (readonly [bigint, bigint | undefined])[] = [];
    const { relays, receive, linkTo } = world((proc, from) => {
      asked.push([proc, from]);
      return proc === stranger ? up : undefined;
    });
    const over = linkTo(20n);
    over.peer = 20n;
    // The dialler has no link to this proc either.
    receive(over, [stranger, peer, 7, data, "hello"]);
    receive(over, [stranger, peer, 7, data, ", again"]);
    receive(up, [peer, stranger, 7, data | acceptor, "hi"]);
    expect([asked, up.news(), over.news()]).toEqual([
      [[stranger, 20n]],
      [
        [stranger, peer, 7, data, "hello"],
        [stranger, peer, 7, data, ", again"],
      ],
      [[peer, stranger, 7, data | acceptor, "hi"]],
    ]);
    // Only the first frame of a dialler opens a pipe.
    receive(over, [stranger, peer, 8, close, ""]);
    receive(up, [peer, stranger, 8, data | acceptor, "x"]);
    receive(over, [30n, peer, 9, data, "x"]);
    expect([asked.length, over.news(), up.news()]).toEqual([
      2,
      [
        [peer, stranger, 8, reset | acceptor, ""],
        [peer, 30n, 9, reset | acceptor, ""],
      ],
      [[stranger, peer, 8, reset, ""]],
    ]);
    relays.linkEnded(up.link, gone);
    expect(over.news()).toEqual([[peer, stranger, 7, reset | acceptor, ""]]);
  });

  test("does not pass a frame back to the proc that it came from", () => {
    const over = new HandLink();
    const { receive } = world(() => over);
    receive(over, [stranger, peer, 7, data, "hello"]);
    expect(over.news()).toEqual([[peer, stranger, 7, reset | acceptor, ""]]);
  });
});
