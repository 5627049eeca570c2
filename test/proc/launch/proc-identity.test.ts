import { expect, test } from "vitest";
import { formatIdentity, parseIdentity } from "../../../runtime/proc/launch/process-backend.js";

test("two arguments contain the identity of a process", () => {
  const identity = {
    universe: 0xffff_ffff_ffff_ffffn,
    id: 2n,
    parent: 0xabcn,
    rank: 5,
    extent: { hosts: 2, gpus: 4 },
    runDir: "/tmp/with: colons, and spaces",
  };
  const args = formatIdentity(identity);
  expect(args[0]).toBe("ffffffffffffffff:0000000000000002:0000000000000abc:5:hosts=2,gpus=4::");
  expect(parseIdentity(...args)).toEqual(identity);
  const hosted = { ...identity, launcher: 0x17n, host: "host:fffffffffffffffe@tcp://[::1]:26600" };
  expect(parseIdentity(...formatIdentity(hosted))).toEqual(hosted);
  const single = { ...identity, rank: 0, extent: {} };
  expect(parseIdentity(...formatIdentity(single))).toEqual(single);
});

test("other arguments are no identity", () => {
  expect(parseIdentity(undefined, undefined)).toBeUndefined();
  expect(parseIdentity("script.js", "/tmp")).toBeUndefined();
  expect(parseIdentity("ffffffffffffffff:0000000000000002:0000000000000abc:5::17:", "/tmp")).toBeUndefined();
  expect(parseIdentity("ffffffffffffffff:0000000000000002:0000000000000abc:5:::", undefined)).toBeUndefined();
});
