import fc from "fast-check";
import { expect, test } from "vitest";
import type { QueuePairEnd } from "../../../../runtime/rdma/transport/verbs/messages.js";
import {
  decodeAnswer,
  decodePorts,
  decodeRequest,
  encodeAnswer,
  encodePorts,
  encodeRequest,
} from "../../../../runtime/rdma/transport/verbs/messages.js";
import { cases } from "../../../profile.js";

const bytes = (length: number, first: number) => Uint8Array.from({ length }, (_, index) => first + index);

const end: QueuePairEnd = {
  pair: { gid: bytes(16, 1), number: 0xabcdef, firstPacket: 0x123456, lid: 7, mtu: 5, reads: 16 },
  heartbeatTarget: { address: 0xfedc_ba98_7654_3210n, key: 0xffff_fffe, secret: bytes(16, 50) },
};
const grant = {
  slot: 65_535,
  generation: 3,
  nonce0: 1n << 63n,
  nonce1: 2n,
  machine: 3n,
  started: 4n,
  pid: 4_194_304,
  length: 2 ** 40 + 1,
  writable: true,
};
const gid = bytes(16, 100);

test("requests and answers are decoded to the encoded values", () => {
  expect(decodeRequest(encodeRequest({ grant, gid }))).toEqual({ grant, gid });
  const connect = { token: bytes(8, 9), end };
  expect(decodeRequest(encodeRequest({ grant, gid, connect }))).toEqual({ grant, gid, connect });
  const answer = { address: (1n << 64n) - 1n, key: 0x8000_0001 };
  expect(decodeAnswer(encodeAnswer(answer))).toEqual(answer);
  expect(decodeAnswer(encodeAnswer({ ...answer, end }))).toEqual({ ...answer, end });
  const trouble = { why: "no such RDMA port is up" };
  expect(decodeAnswer(encodeAnswer(trouble))).toEqual(trouble);
  for (const refusal of ["forged", "stale", "revoked", "dropped"] as const) {
    expect(decodeAnswer(encodeAnswer(refusal))).toBe(refusal);
  }
});

test("two ports fit into a handle, with 48 bytes for each transport", () => {
  const port = { device: "rxe0", port: 1, gidIndex: 1, gid, link: "ethernet" } as const;
  const part = encodePorts([port, { ...port, link: "infiniband" }, port]);
  expect(part.length).toBeLessThanOrEqual(48);
  expect(decodePorts(part)).toEqual([
    { link: "ethernet", gid },
    { link: "infiniband", gid },
  ]);
});

test("messages that are too short or too long are refused", () => {
  const request = encodeRequest({ grant, gid, connect: { token: bytes(8, 9), end } });
  expect(() => decodeRequest(request.subarray(0, 20))).toThrow("invalid message: expected 24 bytes or more, got 20");
  expect(() => decodeRequest(Uint8Array.of(...request, 0))).toThrow(
    `invalid message: expected ${request.length} bytes, got ${request.length + 1}`,
  );
  expect(() => decodeAnswer(Uint8Array.of(65))).toThrow("invalid message: expected an answer or a refusal");
});

test("random bytes are decoded to a message within bounds, or to a RangeError", () => {
  const sound = encodeRequest({ grant, gid, connect: { token: bytes(8, 9), end } });
  const mutated = fc
    .tuple(fc.nat(sound.length - 1), fc.nat(255), fc.nat(sound.length))
    .map(([at, value, length]) => Uint8Array.from(sound.with(at, value).subarray(0, length)));
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), mutated), (hostile) => {
      for (const decode of [decodeRequest, decodeAnswer, decodePorts]) {
        try {
          const message = decode(hostile);
          const pair = typeof message === "object" && "connect" in message ? message.connect?.end.pair : undefined;
          if (pair === undefined) continue;
          expect(pair.mtu).toBeGreaterThanOrEqual(1);
          expect(pair.mtu).toBeLessThanOrEqual(5);
          expect(pair.number).toBeLessThan(1 << 24);
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError);
        }
      }
    }),
    { numRuns: cases(1000) },
  );
});
