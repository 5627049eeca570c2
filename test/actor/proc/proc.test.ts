/** These tests check a proc with fake links: the ends of links, the questions of peers, and the lanes of peers. */
import { beforeEach, describe, expect, test } from "vitest";
import { EarlyMessages } from "../../../runtime/actor/delivery/early-messages.js";
import { RefusingDestination } from "../../../runtime/actor/delivery/refusing-destination.js";
import { neverDropped } from "../../../runtime/actor/proc/drop-watch.js";
import { Proc } from "../../../runtime/actor/proc/proc.js";
import type { ProcOptions } from "../../../runtime/actor/proc/proc-options.js";
import { ActorTarget, MeshRecord } from "../../../runtime/actor/reference/mesh-record.js";
import type { OpenPort } from "../../../runtime/actor/reference/open-port.js";
import { AGENT_MESH } from "../../../runtime/link/address.js";
import { systemRandom } from "../../../runtime/link/clock.js";
import { DeliveryError } from "../../../runtime/link/errors.js";
import { SyncKind } from "../../../runtime/link/frame/frame.js";
import type { Lane } from "../../../runtime/link/inbound/lane.js";
import { noKeepAlive } from "../../../runtime/link/keep-alive.js";
import type { Link } from "../../../runtime/link/link.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import { ManualClock } from "../../link/resumable/cut-world.js";
import { Counter } from "../counter.js";
import { settled } from "../parts.js";

let told: unknown[];
let ordered: () => Promise<boolean>;
let whyLost: () => string | Promise<string>;
let proc: Proc;

function newProc(more: Partial<ProcOptions> = {}): Proc {
  const hooks = {
    actorStarted: () => {},
    actorFailed: () => {},
    cleanupFailed: () => {},
    stopOwned: async () => {},
    meshOrdered: () => ordered(),
    targetDown: ({ rank }: ActorTarget) => told.push(`target down ${rank}`),
    peerLost: () => whyLost(),
    peerDown: (peer: bigint, reason: string) => told.push(`peer down ${peer}: ${reason}`),
  };
  return new Proc({
    id: 1n,
    universe: 5n,
    clock: new ManualClock(),
    random: systemRandom,
    keepAlive: noKeepAlive,
    drops: neverDropped,
    hooks: hooks as never,
    connect: () => new Promise(() => {}),
    ...more,
  });
}
beforeEach(() => {
  told = [];
  ordered = async () => true;
  whyLost = () => "it was killed";
  proc = newProc();
});

/** Creates a link that records what is sent on it and how it ends. */
function newLink(name: string, more: object = {}): Link {
  const link = {
    peer: 2n,
    isIntroduced: true,
    isDialler: false,
    isClosing: false,
    dialNumber: 0,
    ended: undefined as Error | undefined,
    end: (error: DeliveryError) => {
      link.ended = error;
      told.push(`${name} ended, ${error.reason}: ${error.message}`);
    },
    destroy: () => told.push(`${name} destroyed`),
    close: (reason: string) => told.push(`${name} closed: ${reason}`),
    sendAsk: (question: number, mesh: bigint) => told.push(`${name} asks ${question} of ${mesh}`),
    sendTell: (question: number, exists: boolean) => told.push(`${name} tells ${question}: ${exists}`),
    sendHold: () => {},
    whenAllSent: () => Promise.resolve(),
    ...more,
  };
  return link as unknown as Link;
}
function open(name: string, more: object = {}): Link {
  const link = newLink(name, more);
  proc.linkOpened(link, 0);
  return link;
}

test("a proc takes its options, and uses defaults for missing ones", () => {
  expect([proc.location, proc.root.name, proc.root.lifecycle.state, proc.keepAlive]).toEqual([
    "",
    "root",
    "running",
    noKeepAlive,
  ]);
  expect(proc.context).toEqual({ id: "0000000000000001", rank: 0 });
  const other = newProc({ location: "here", name: "other", limits: { endedActors: 7 } });
  expect([other.location, other.root.name, other.limits.endedActors]).toEqual(["here", "other", 7]);
});

describe("a link that ends", () => {
  const lost = new Error("cut");
  test.each<[string, object, Error | undefined, string]>([
    ["with a farewell", {}, undefined, "closed: its process has closed the link"],
    ["before its peer is known", { peer: undefined }, lost, "closed: cut"],
    ["while it is being closed here", { isClosing: true }, lost, "closed: cut"],
    ["with a DeliveryError", {}, new DeliveryError("unknown", "it is gone"), "unknown: it is gone"],
    [
      "before the dialled peer has introduced itself",
      { isDialler: true, isIntroduced: false },
      lost,
      "unknown: its process cannot be reached: cut",
    ],
  ])("%s does not make its peer unreachable", (_, more, error, text) => {
    const link = newLink("link", more);
    if (link.peer !== undefined) proc.linkOpened(link, 0);
    proc.linkClosed(link, error);
    expect(told).toEqual([`link ended, ${text}`]);
    expect(proc.routes.isUnreachable(2n)).toBe(false);
    expect(proc.routes.existingLink(2n)).toBe(undefined);
    if (error === lost && text.startsWith("unknown")) expect(link.ended!.cause).toBe(lost);
  });

  test("does not make its peer unreachable while another link to the peer exists", () => {
    const [one, other] = [open("one"), open("other")];
    proc.linkClosed(one, lost);
    expect(told).toEqual(["one ended, closed: cut"]);
    expect([one.ended!.cause, proc.routes.existingLink(2n), proc.routes.isUnreachable(2n)]).toEqual([
      lost,
      other,
      false,
    ]);
  });

  test("declares its peer dead, with the reason from hooks.peerLost, if it was the last link", () => {
    const link = open("link");
    proc.linkClosed(link, lost);
    expect(told).toEqual(["link ended, peer-down: it was killed", "peer down 2: it was killed"]);
    expect(proc.routes.deathOf(2n)).toMatchObject({ reason: "peer-down", message: "it was killed" });
    proc.peerDown(2n, "again");
    expect(told.length).toBe(2);
    expect(proc.routes.deathOf(2n)!.message).toBe("again");
  });

  test("makes its peer unreachable at once, and reports the reason when the process has found it", async () => {
    let explain: (why: string) => void = () => {};
    whyLost = () =>
      new Promise((resolve) => {
        explain = resolve;
      });
    const link = open("link");
    proc.linkClosed(link, lost);
    expect([told, proc.routes.isUnreachable(2n), proc.routes.hasLostPeers]).toEqual([[], true, true]);
    explain("exit code 1");
    await settled();
    expect(told).toEqual(["link ended, peer-down: exit code 1", "peer down 2: exit code 1"]);
    expect(proc.routes.hasLostPeers).toBe(false);
  });

  test("gets the reason of an earlier peerDown, which does not end lost links of other peers", async () => {
    whyLost = () => new Promise(() => {});
    const [link, other] = [open("link"), open("other", { peer: 3n })];
    proc.linkClosed(link, lost);
    proc.linkClosed(other, lost);
    proc.peerDown(2n, "its host was stopped");
    expect(told).toEqual([
      "link destroyed",
      "link ended, peer-down: its host was stopped",
      "peer down 2: its host was stopped",
    ]);
  });

  test("reports no dead peer after the proc has closed its links", () => {
    const link = open("link");
    proc.close("enough");
    proc.close("twice");
    proc.linkClosed(link, lost);
    expect(told).toEqual([
      "link closed: enough",
      "link ended, closed: this process has closed its links: enough",
      "link ended, closed: cut",
    ]);
  });

  test("a newer link of the same peer ends the older link with that reason", () => {
    open("older", { dialNumber: 1 });
    proc.linkOpened(newLink("newer", { dialNumber: 2 }), 0);
    expect(told).toEqual([
      "older destroyed",
      "older ended, closed: its process has given the link up, and opened another one",
    ]);
  });
});

describe("a promised pipe", () => {
  test("gets a link at once, before the pipe exists", async () => {
    const attached: unknown[] = [];
    const link = proc.attach(new Promise(() => {}), 2n);
    Object.assign(link, { attach: (pipe: unknown) => attached.push(pipe) });
    expect(proc.routes.existingLink(2n)).toBe(link);
    expect(attached).toEqual([]);
  });

  test("fails its link with the reason if the promise is rejected", async () => {
    const failed = new Error("no such program");
    const link = proc.attach(Promise.reject(failed), 2n);
    const errors: DeliveryError[] = [];
    Object.assign(link, { failUnreachable: (error: DeliveryError) => errors.push(error) });
    await settled();
    expect(errors).toMatchObject([{ reason: "peer-down", message: "no such program", cause: failed }]);
  });
});

describe("the delivery of everything that was sent", () => {
  const isOver = async (promise: Promise<unknown>): Promise<boolean> => {
    let over = false;
    void promise.then(() => {
      over = true;
    });
    await settled();
    return over;
  };

  test("is complete when each peer has answered a question that was sent after the messages", async () => {
    const [one, other] = [open("one"), open("other", { peer: 3n })];
    const [delivered, toOne] = [proc.whenDelivered(), proc.whenDeliveredTo(2n)];
    await settled();
    const questions = told.map((text) => /^(\w+) asks (\d+) of (\d+)$/.exec(String(text))!.slice(1));
    expect(questions.map(([name, , mesh]) => [name, mesh])).toEqual([
      ["one", String(AGENT_MESH)],
      ["one", String(AGENT_MESH)],
      ["other", String(AGENT_MESH)],
    ]);
    expect(new Set(questions.map(([, number]) => number))).toEqual(new Set(["1", "2", "3"]));
    for (const [name, number] of questions) if (name === "one") proc.meshQueryAnswered(one, Number(number), false);
    expect([await isOver(toOne), await isOver(delivered)]).toEqual([true, false]);
    proc.meshQueryAnswered(other, Number(questions[2]![1]), false);
    expect(await isOver(delivered)).toBe(true);
  });

  test("is not awaited for a peer that has ended", async () => {
    const [one, other] = [open("one"), open("other", { peer: 3n })];
    const delivered = [proc.whenDeliveredTo(2n), proc.whenDeliveredTo(3n)] as const;
    proc.linkClosed(one, undefined);
    expect([await isOver(delivered[0]), await isOver(delivered[1])]).toEqual([true, false]);
    Object.assign(other, { ended: new Error("over") });
    told = [];
    expect([await isOver(proc.whenDelivered()), told]).toEqual([true, []]);
  });
});

describe("questions of peers about meshes", () => {
  test.each<[string, () => Promise<boolean>, boolean]>([
    ["a mesh that was ordered", async () => true, true],
    ["a mesh that was not ordered", async () => false, false],
    ["a mesh whose lookup fails", () => Promise.reject(new Error("no")), false],
  ])("are answered for %s", async (_, known, exists) => {
    ordered = known;
    proc.meshQueried(newLink("link"), 8, 70n);
    await settled();
    expect(told).toEqual([`link tells 8: ${exists}`]);
  });
});

describe("a lane", () => {
  const sender = { universe: 5n, proc: 2n, mesh: 6n, rank: 0, incarnation: 0, name: "sender" };
  const request = (target: object) =>
    ({
      sender,
      target: { kind: "actor", proc: 1n, number: 70n, rank: 0, owner: 2n, fingerprint: 0n, ...target },
      credit: {},
    }) as never;
  const refusalOf = (destination: unknown): unknown => {
    const gone: unknown[] = [];
    const lane = {
      id: 1,
      isOpen: true,
      link: { sendBounce: () => {} },
      consumed: () => {},
      sendGone: (...why: unknown[]) => gone.push(why),
    };
    (destination as RefusingDestination).message(lane as never, 0, 0, 0, undefined as never, 8);
    return gone[0];
  };
  const create = (mesh: bigint, rank = 0) =>
    proc.createActor({
      mesh,
      rank,
      incarnation: 0,
      name: "counter",
      extent: {},
      owner: 2n,
      descriptor: Counter.descriptor,
      actorClass: Counter,
      args: [0],
    } as never);

  test("leads to a local actor if the rank matches, and to the agent for any rank", () => {
    const link = open("link");
    const [cell, agent] = [create(70n), create(AGENT_MESH)];
    expect(proc.laneOpened(link, request({}))).toBe(cell.inbound);
    expect(proc.laneOpened(link, request({ rank: 4 }))).toBeInstanceOf(EarlyMessages);
    expect(proc.laneOpened(link, request({ number: AGENT_MESH, rank: 4 }))).toBe(agent.inbound);
  });

  test("to an ended actor is refused with the reason as long as the proc remembers the actor", async () => {
    proc = newProc({ limits: { endedActors: 1 } });
    const link = open("link");
    await proc.stopActor(create(70n), { reason: "ordered", drain: 0 });
    expect(refusalOf(proc.laneOpened(link, request({})))).toEqual([
      "stopped",
      "the actor counter[0] was stopped: ordered",
    ]);
    await proc.stopActor(create(71n), { reason: "ordered", drain: 0 });
    expect(proc.laneOpened(link, request({ number: 71n }))).toBeInstanceOf(RefusingDestination);
    expect(proc.laneOpened(link, request({}))).toBeInstanceOf(EarlyMessages);
  });

  test("leads to an open port, unless the sender has another value type or the port has closed", () => {
    const link = open("link");
    const heldBy: unknown[] = [];
    const port = {
      owner: proc.root.ports,
      number: 9n,
      codec: codec.int32,
      laneOpenedBy: (who: unknown) => void heldBy.push(who),
      setHolder: (...args: unknown[]) => void told.push(["hold", ...args]),
    } satisfies Partial<OpenPort> as unknown as OpenPort;
    proc.openPort(port);
    const { fingerprint, name } = codec.int32;
    expect(proc.laneOpened(link, request({ kind: "port", number: 9n, fingerprint }))).toBe(port);
    expect(heldBy).toEqual([sender]);
    expect(refusalOf(proc.laneOpened(link, request({ kind: "port", number: 9n, fingerprint: 1n })))).toEqual([
      "refused",
      `it is a port of ${name}, and of nothing else`,
    ]);
    proc.holderEnded("6/0/0");
    expect(told).toEqual([["hold", "6/0/0", 0n, false]]);
    proc.closePort(port);
    expect(refusalOf(proc.laneOpened(link, request({ kind: "port", number: 9n, fingerprint })))).toEqual([
      "unknown",
      "its receiver is gone",
    ]);
  });

  describe("to an actor that is not known", () => {
    const unknown = ["unknown", "there is no such actor, or not any more"];
    /** Sends a message on a lane, which records the reason in `told` if the lane is refused. */
    const ask = (held: unknown) => {
      const lane = {
        id: 1,
        isOpen: true,
        link: { sendBounce: () => {} },
        consumed: () => {},
        sendGone: (...why: unknown[]) => told.push(why),
        redirect: () => {},
      };
      const to = held as EarlyMessages;
      to.message(lane as never, 0, 0, 0, undefined as never, 8);
    };

    test("waits together with other lanes to the actor, and the owner is asked once", () => {
      const link = open("link");
      const held = proc.laneOpened(link, request({}));
      expect(proc.laneOpened(link, request({}))).toBe(held);
      expect(told).toEqual(["link asks 1 of 70"]);
      const cell = create(70n);
      expect(proc.laneOpened(link, request({}))).toBe(cell.inbound);
      expect(proc.laneOpened(link, request({ number: 71n }))).not.toBe(held);
      expect(told[1]).toBe("link asks 2 of 71");
    });

    test("is refused when the owner denies the mesh or has ended", () => {
      const [link, other] = [open("link"), open("other", { peer: 3n })];
      const held = proc.laneOpened(link, request({}));
      const second = proc.laneOpened(other, request({ number: 71n, owner: 3n }));
      proc.meshQueryAnswered(link, 1, true);
      proc.meshQueryAnswered(link, 99, false);
      proc.meshQueryAnswered(link, 1, false);
      const third = proc.laneOpened(link, request({ number: 72n }));
      told = [];
      proc.linkClosed(other, undefined);
      ask(second);
      expect(told.slice(1)).toEqual([unknown]);
      told = [];
      proc.meshQueryAnswered(link, 3, false);
      ask(third);
      expect(told).toEqual([unknown]);
      expect(proc.laneOpened(link, request({}))).toBe(held);
    });

    test.each<[string, () => Promise<boolean>, unknown[]]>([
      ["waits if the mesh was ordered", async () => true, []],
      ["is refused if the mesh was not ordered", async () => false, [unknown]],
      ["is refused if the lookup of the mesh fails", () => Promise.reject(new Error("no")), [unknown]],
    ])("in a mesh of this proc %s, and no peer is asked", async (_, known, outcome) => {
      ordered = known;
      const held = proc.laneOpened(open("link"), request({ owner: 1n }));
      await settled();
      if (outcome.length > 0) ask(held);
      expect(told).toEqual(outcome);
    });

    test("is refused if the owner has ended before the lane opens", async () => {
      const link = open("link");
      proc.peerDown(7n, "it was killed");
      told = [];
      const held = proc.laneOpened(link, request({ owner: 7n }));
      await settled();
      ask(held);
      expect(told).toEqual([unknown]);
    });

    test("creating the same actor twice throws an error", () => {
      create(70n);
      expect(() => create(70n)).toThrow(new Error("cannot create counter[0]: it is there already"));
    });
  });

  test("passes a request for confirmation to its actor or early messages, or confirms it itself", () => {
    const cell = create(70n);
    const reached: unknown[] = [];
    cell.inbound.confirmHandled = (lane) => void reached.push(lane);
    const lane = (finalDestination: unknown) =>
      ({ finalDestination, confirmReached: () => reached.push("itself") }) as unknown as Lane;
    const held = new EarlyMessages();
    held.confirmHandled = (lane) => void reached.push(lane);
    const [toActor, toHeld] = [lane(cell.inbound), lane(held)];
    for (const each of [toActor, toHeld, lane(new RefusingDestination(new DeliveryError("unknown", "gone")))]) {
      proc.laneSynced(each, SyncKind.reached, 0);
    }
    expect(reached).toEqual([toActor, toHeld, "itself"]);
  });
});

describe("an actor of another process", () => {
  const record = new MeshRecord({ id: 70n, name: "others", owner: 3n, extent: { gpus: 4 } });
  const target = () => new ActorTarget(record, 3, { proc: 2n, location: "there" });

  test("has no downtime while a link to its process exists", () => {
    open("link");
    expect([proc.downtimeOf(target()), told]).toEqual([undefined, []]);
  });

  test("is down when its process has ended, and each query asks its owner until it is known to be lost", () => {
    proc.peerDown(2n, "it was killed");
    told = [];
    const gone = target();
    const downtime = proc.downtimeOf(gone);
    expect([downtime, gone.downtime, told]).toEqual([downtime, downtime, ["target down 3"]]);
    expect(proc.downtimeOf(gone)).toBe(downtime);
    downtime!.markLost();
    proc.downtimeOf(gone);
    expect(told).toEqual(["target down 3", "target down 3"]);
    expect(proc.linkTo(gone, "there")).toBe(undefined);
  });

  test("is down if it was marked as down, even if its process is alive", () => {
    const link = open("link");
    const ended = target();
    const downtime = ended.markDown();
    expect([proc.downtimeOf(ended), told]).toEqual([downtime, ["target down 3"]]);
    expect(proc.linkTo(ended, "there")).toBe(link);
  });
});

describe("the cast traffic of a proc", () => {
  test("is passed to the cast router, which closes with the proc", () => {
    Object.assign(proc.casts, {
      laneSynced: (...args: unknown[]) => told.push(["synced", ...args]),
      handleFrame: (...args: unknown[]) => told.push(["frame", ...args]),
      close: (error: DeliveryError) => told.push(["closed", error.reason, error.message]),
    });
    const [lane, link, frame] = [{} as Lane, newLink("link"), {} as never];
    proc.laneSynced(lane, SyncKind.passed, 7);
    proc.treeFrameReceived(link, frame, frame);
    proc.close("enough");
    expect(told).toEqual([
      ["synced", lane, SyncKind.passed, 7],
      ["frame", link, frame, frame],
      ["closed", "closed", "this process has closed its links: enough"],
    ]);
  });

  test("has a fold only for meshes with an actor in the proc", () => {
    const { key, fingerprint } = Counter.descriptor;
    const setup = { mesh: 70n, interface: { key, fingerprint } } as never;
    expect(proc.foldFor(setup, 1, "sum")).toBe(undefined);
    proc.createActor({
      mesh: 70n,
      rank: 0,
      incarnation: 0,
      name: "counter",
      extent: {},
      owner: 2n,
      descriptor: Counter.descriptor,
      actorClass: Counter,
      args: [0],
    } as never);
    expect(proc.foldFor(setup, 1, "sum")).toBeTypeOf("function");
  });
});

test("a port is told about changes of its holders and about processes that have ended", () => {
  const port = {
    owner: proc.root.ports,
    number: 9n,
    codec: codec.int32,
    setHolder: (...args: unknown[]) => void told.push(["hold", ...args]),
    peerDown: (...args: unknown[]) => void told.push(["down", ...args]),
  } satisfies Partial<OpenPort> as unknown as OpenPort;
  proc.openPort(port);
  proc.portHolderChanged(undefined, 9n, "6/0/0", 2n, true);
  proc.portHolderChanged(undefined, 10n, "6/0/0", 2n, true);
  proc.peerDown(2n, "it was killed");
  expect(told).toEqual([["hold", "6/0/0", 2n, true], ["down", 2n, "it was killed"], "peer down 2: it was killed"]);
});
