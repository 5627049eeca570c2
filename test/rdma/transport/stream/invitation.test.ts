/**
 * Tests of invitations in the transport `stream`: an initiator that cannot connect to the owner asks the owner to
 * connect.
 */
import { describe, expect, test } from "vitest";
import { type Clock, systemClock, systemRandom } from "../../../../runtime/link/clock.js";
import type { BulkConnection } from "../../../../runtime/rdma/peer/bulk-connection.js";
import type { PeerConnector } from "../../../../runtime/rdma/peer/peer-connector.js";
import { StreamBackend } from "../../../../runtime/rdma/transport/stream/backend.js";
import {
  ANSWER_BYTES,
  REQUEST_BYTES,
  readIntroduction,
  writeAnswer,
  writeHello,
  writeOffer,
  writeWelcome,
} from "../../../../runtime/rdma/transport/stream/frames.js";
import { readInvitation, writeInvitation } from "../../../../runtime/rdma/transport/stream/invitation.js";
import { handle, nextTurn, ScriptedPipe } from "./scripted-pipe.js";

const universe = 7n;
const here = { proc: 11n, location: "host:00000000000000aa@tcp://somewhere:1" };
const nothingHere = { find: () => "forged" as const };

/** A process that cannot connect to the owner of `handle`. `calls` contains its calls to the agent of the owner. */
function initiator(asked: (request: Uint8Array) => Promise<Uint8Array>, clock: Clock = systemClock) {
  const calls: string[] = [];
  const agent = {
    askMemory: {
      callOne: (transport: string, request: Uint8Array) => {
        calls.push(transport);
        return asked(request);
      },
    },
    readMemory: {
      callOne: async (_claim: unknown, _offset: number, length: number) => {
        calls.push("read");
        return { bytes: new Uint8Array(length).fill(9) };
      },
    },
  };
  const road: PeerConnector = {
    universe,
    reachableAddress: here,
    askAgent: (_proc, _location, send) => send(agent as never),
    connect: async () => undefined,
    listen() {},
  };
  return { backend: new StreamBackend(road, nothingHere, clock, systemRandom), calls };
}

/** An owner that can or cannot connect to initiators. */
function owner(connect: () => Promise<BulkConnection | undefined>) {
  const never = () => Promise.reject(new Error("nobody is asked")) as never;
  const road: PeerConnector = { universe, reachableAddress: undefined, askAgent: never, connect, listen() {} };
  return new StreamBackend(road, nothingHere, systemClock, systemRandom);
}

describe("an initiator that cannot connect", () => {
  test("sends its id and location, and uses the connection that arrives", async () => {
    let request: Uint8Array | undefined;
    const { backend, calls } = initiator(async (bytes) => {
      request = bytes;
      return new Uint8Array(0);
    });
    const opening = backend.open(handle);
    await nextTurn();
    const { token, ...asker } = readInvitation(request!);
    expect(asker).toEqual(here);
    const pipe = new ScriptedPipe();
    backend.acceptConnection({ pipe, isDirect: false });
    pipe.receive(writeOffer(universe, token));
    await nextTurn();
    expect(readIntroduction(viewOf(pipe.bytes), 0, universe)).toBeUndefined();
    pipe.receive(writeWelcome());
    await nextTurn();
    expect(pipe.bytes.length).toBe(2 * REQUEST_BYTES);
    pipe.receive(writeAnswer(undefined, 0));
    await opening;
    expect(calls).toEqual(["stream"]);
    // The token is valid for one connection.
    const second = new ScriptedPipe();
    backend.acceptConnection({ pipe: second, isDirect: false });
    second.receive(writeOffer(universe, token));
    expect(second.why?.message).toBe("cannot read memory frame: a connection without an invitation");
    expect(pipe.destroyed).toBe(false);
  });

  test.each([
    ["the owner cannot connect either", async () => Promise.reject(new Error("there is no way"))],
    ["the owner says that it has, and does not come", async () => new Uint8Array(0)],
  ])("uses calls when %s", async (_, asked) => {
    const soon: Clock = { ...systemClock, after: (_ms, task, alive) => systemClock.after(5, task, alive) };
    const { backend, calls } = initiator(asked, soon);
    await backend.open(handle);
    expect(calls).toEqual(["stream", "read"]);
  });

  test("uses calls when the connection violates the protocol or ends at once", async () => {
    for (const say of [
      (pipe: ScriptedPipe) => pipe.receive(new Uint8Array(ANSWER_BYTES)),
      (pipe: ScriptedPipe) => pipe.destroy(),
    ]) {
      let request: Uint8Array | undefined;
      const { backend, calls } = initiator(async (bytes) => {
        request = bytes;
        return new Uint8Array(0);
      });
      const opening = backend.open(handle);
      await nextTurn();
      const pipe = new ScriptedPipe();
      backend.acceptConnection({ pipe, isDirect: false });
      pipe.receive(writeOffer(universe, readInvitation(request!).token));
      await nextTurn();
      say(pipe);
      await opening;
      expect(calls).toEqual(["stream", "read"]);
      expect(pipe.destroyed).toBe(true);
    }
  });
});

describe("an owner that is asked to connect", () => {
  const invitation = writeInvitation({ token: 5n, ...here });

  test("connects with the token and answers; a second connection replaces the first", async () => {
    const pipes: ScriptedPipe[] = [];
    const backend = owner(async () => {
      const pipe = new ScriptedPipe();
      pipes.push(pipe);
      return { pipe, isDirect: false };
    });
    await backend.answerPeer(invitation);
    expect(readIntroduction(viewOf(pipes[0]!.bytes), 0, universe)).toBe(5n);
    pipes[0]!.receive(writeHello(universe));
    await nextTurn();
    expect([...pipes[0]!.bytes.subarray(REQUEST_BYTES)]).toEqual([...writeWelcome()]);
    await backend.answerPeer(invitation);
    expect(pipes.map(({ destroyed }) => destroyed)).toEqual([true, false]);
    backend.peerGone(here.proc, "it has ended");
    expect(pipes[1]!.why?.message).toBe("it has ended");
  });

  test("reports an error when it cannot connect, and for an invalid invitation", async () => {
    const backend = owner(async () => undefined);
    await expect(backend.answerPeer(invitation)).rejects.toThrow("the initiator cannot be reached");
    for (const size of [0, 15, 5000]) {
      await expect(backend.answerPeer(new Uint8Array(size))).rejects.toThrow(
        `invalid invitation: expected 16 to 4096 bytes, got ${size}`,
      );
    }
  });
});

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
